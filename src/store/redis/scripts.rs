//! The scripts: one for each step, with the libraries it needs in front.
//!
//! A script is loaded when a connection begins and called by its hash; a server that forgot it
//! (restarted, flushed, a new master) is given the text again by the call that finds out.
use std::sync::LazyLock;

const START: &str = include_str!("../scripts/lib_start.lua");
const LANES: &str = include_str!("../scripts/lib_lanes.lua");
const OPT: &str = include_str!("../scripts/lib_opt.lua");
const PACE: &str = include_str!("../scripts/lib_pace.lua");
const PARK: &str = include_str!("../scripts/lib_park.lua");
const RECORD: &str = include_str!("../scripts/lib_record.lua");
const INBOX: &str = include_str!("../scripts/lib_inbox.lua");
const CHAT: &str = include_str!("../scripts/lib_chat.lua");
const SHELF: &str = include_str!("../scripts/lib_shelf.lua");
const TRACE: &str = include_str!("../scripts/lib_trace.lua");
const MEDIA: &str = include_str!("../scripts/lib_media.lua");

/// A loaded script.
pub(super) struct Script {
    /// The whole text.
    pub(super) text: String,
    /// SHA-1 of it, as Redis names it.
    pub(super) hash: String,
}

/// Declares each script with its file and libraries.
macro_rules! scripts {
    ($($step:ident $file:literal [$($library:ident),*];)*) => {
        /// A step that is a script.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Step { $($step),* }

        impl Step {
            /// Every one.
            pub(super) const ALL: &[Self] = &[$(Self::$step),*];

            fn pieces(self) -> &'static [&'static str] {
                match self {
                    $(Self::$step => &[
                        START, OPT, $($library,)* include_str!(concat!("../scripts/", $file, ".lua")),
                    ],)*
                }
            }
        }
    };
}

scripts! {
    Start "start" [];
    Open "open" [PACE, LANES, INBOX, TRACE];
    Push "q_push" [PACE, LANES];
    Claim "q_claim" [PACE, PARK, LANES, RECORD];
    Extend "q_extend" [PACE, LANES];
    Ack "q_ack" [PACE, LANES];
    DeferLane "q_defer" [PACE, LANES];
    Bury "q_bury" [PACE, LANES];
    Depth "q_depth" [PACE, LANES];
    Commit "commit" [RECORD];
    Begin "begin" [PACE, LANES, RECORD];
    NotePart "note_part" [PACE, LANES, RECORD, SHELF];
    Restate "restate" [PACE, LANES, RECORD];
    RunId "run_id" [];
    Shelve "shelve" [PACE, LANES, SHELF];
    ClearShelf "clear_shelf" [];
    LapseShelves "lapse_shelves" [SHELF];
    Finish "finish" [PACE, LANES, RECORD];
    Defer "defer" [PACE, LANES, RECORD];
    Penalise "penalise" [PACE];
    Breath "breath" [PACE];
    Park "park" [PARK];
    Parked "parked" [PARK];
    Probation "probation" [PARK];
    Unpark "unpark" [PARK];
    Whereabouts "whereabouts" [PACE, LANES];
    Cancel "cancel" [PACE, LANES, RECORD];
    Requeue "requeue" [PACE, LANES, RECORD];
    OptSet "opt_set" [];
    OptClear "opt_clear" [];
    SweepSends "sweep_sends" [RECORD, INBOX];
    Slice "slice" [];
    Entry "entry" [INBOX];
    Kept "kept" [];
    Keep "keep" [];
    MediaPut "media_put" [MEDIA];
    MediaRow "media_row" [];
    MediaRead "media_read" [MEDIA];
    MediaKeep "media_keep" [MEDIA];
    SweepMedia "sweep_media" [MEDIA];
    SweepSlices "sweep_slices" [INBOX];
    SweepKept "sweep_kept" [];
    Overdue "overdue" [];
    NoteTrace "note_trace" [TRACE];
    Trace "trace" [TRACE];
    AddHour "add_hour" [];
    Announce "announce" [];
    Beat "beat" [];
    Condition "condition" [];
    Visit "visit" [CHAT];
    Visitor "visitor" [CHAT];
    VisitorKnown "visitor_known" [CHAT];
    NoteFrame "note_frame" [PACE, LANES, RECORD, CHAT];
    RecordInbound "record_inbound" [CHAT];
}

impl Step {
    /// Its text and hash.
    pub(super) fn script(self) -> &'static Script {
        static ALL: LazyLock<Vec<Script>> = LazyLock::new(|| {
            let build = |step: &Step| {
                let text = step.pieces().concat();
                let hash = redis::Script::new(&text).get_hash().to_owned();
                Script { text, hash }
            };
            Step::ALL.iter().map(build).collect()
        });
        &ALL[self as usize]
    }
}
