//! What can go wrong: nothing of a vendor's. A frame that the store does not take is transient,
//! and the engine knows that without asking; a visitor that is gone is `visitor_expired`.
use contract::{FaultKind, Outcome, SendFault};

/// A frame is appended, never exchanged: an answer to read is the engine's defect.
pub fn no_exchange() -> Outcome {
    let detail = "this medium's parts are frames and have no answer to read";
    Outcome::Fault(SendFault::new(FaultKind::Internal, "internal", detail))
}
