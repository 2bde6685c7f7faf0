//! The shared connection: runs steps, and makes a new connection when the old one is of no use.
//!
//! One connection carries all commands. A step that meets a lost connection, a server that is busy,
//! loading or no master any more waits 100 ms, then longer, and is tried again until its two
//! seconds are over; the first to notice throws the connection away, the next makes a new one (a
//! Sentinel is asked again for the master). A try whose answer was lost may have happened: the next
//! one says so in its second argument.
use super::super::steps::{At, StoreError, StoreResult};
use super::dial::{Connection, Dial, Options};
use super::facts::Facts;
use super::keys::{Fixed, Keys};
use super::scripts::Step;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// How long a step is tried.
const DEADLINE: Duration = Duration::from_secs(2);
/// First wait between two tries; it doubles.
const WAIT: Duration = Duration::from_millis(100);

/// The connection and what it takes to make another.
pub(super) struct Link {
    pub(super) dial: Dial,
    pub(super) keys: Keys,
    standing: Mutex<Option<Standing>>,
    /// How many connections there have been: a change tells the listener to look again.
    generation: watch::Sender<u64>,
    facts: std::sync::Mutex<Facts<Arc<Call>>>,
}

struct Standing {
    connection: Connection,
    generation: u64,
}

/// A script's keys and arguments.
pub(super) struct Call {
    step: Step,
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
}

impl Call {
    pub(super) fn new(step: Step, keys: impl IntoIterator<Item = String>) -> Self {
        Self { step, keys: keys.into_iter().collect(), arguments: Vec::new() }
    }

    /// Adds keys.
    pub(super) fn keys(mut self, keys: impl IntoIterator<Item = String>) -> Self {
        self.keys.extend(keys);
        self
    }

    /// Adds an argument.
    pub(super) fn arg(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.arguments.push(argument.as_ref().to_vec());
        self
    }

    /// Adds a number.
    pub(super) fn number(self, number: impl ToString) -> Self {
        self.arg(number.to_string())
    }

    fn command(&self, name: &str, script: &str, tag: &str, at: At, again: bool) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(self.keys.len()).arg(&self.keys);
        match at {
            At::Store => command.arg(""),
            At::Given(now) => command.arg(now.0),
        };
        command.arg(i32::from(again)).arg(tag);
        for argument in &self.arguments {
            command.arg(argument);
        }
        command
    }
}

/// What is tried.
enum Work<'w> {
    Step(&'w Call, At),
    Command(&'w Cmd),
    Commands(&'w Pipeline),
}

/// What to do after an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Wait and try again on this connection.
    Wait,
    /// Make a new connection; the step may have happened.
    Reconnect { lost: bool },
    /// It will not get better.
    Give,
}

impl Link {
    pub(super) fn new(options: Options) -> RedisResult<Self> {
        let keys = Keys::new(&options.prefix);
        let dial = Dial::new(options)?;
        Ok(Self {
            dial,
            keys,
            standing: Mutex::default(),
            generation: watch::channel(0).0,
            facts: Default::default(),
        })
    }

    /// Changes whenever a new connection was made.
    pub(super) fn generations(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    async fn connection(&self) -> RedisResult<(Connection, u64)> {
        let mut standing = self.standing.lock().await;
        if let Some(standing) = &*standing {
            return Ok((standing.connection.clone(), standing.generation));
        }
        let mut connection = self.dial.connect().await?;
        load_scripts(&mut connection).await?;
        self.restate(&mut connection).await?;
        let generation = *self.generation.borrow() + 1;
        self.generation.send_replace(generation);
        *standing = Some(Standing { connection: connection.clone(), generation });
        Ok((connection, generation))
    }

    /// Remembers a write about a part: it is written again should its server lose it.
    pub(super) fn note_fact(&self, write: Call) {
        let size = write.keys.iter().map(String::len).chain(write.arguments.iter().map(Vec::len));
        let (size, now) = (size.sum(), std::time::Instant::now());
        self.facts().note(now, size, Arc::new(write));
    }

    fn facts(&self) -> std::sync::MutexGuard<'_, Facts<Arc<Call>>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells another server than the last what it may have lost, before anything else is asked of it.
    async fn restate(&self, connection: &mut Connection) -> RedisResult<()> {
        let tag = self.keys.tag(None);
        let which = Call::new(Step::RunId, [self.keys.fixed(Fixed::Probe)]);
        let which = which.command("EVAL", &Step::RunId.script().text, &tag, At::Store, false);
        let server: String = which.query_async(connection).await?;
        let (mut told, mut moved) = (0, 0);
        loop {
            let Some((run, next)) = self.facts().owed(&server) else { break };
            let mut writes = redis::pipe();
            for write in &run {
                let hash = &write.step.script().hash;
                writes.add_command(write.command("EVALSHA", hash, &tag, At::Store, false));
            }
            match writes.query_async::<Vec<u64>>(connection).await {
                Ok(answers) => moved += answers.iter().sum::<u64>(),
                Err(error) if self::next(&error) == Next::Give => {
                    tracing::error!(error = %error, "facts could not be written to a new server");
                }
                Err(error) => return Err(error),
            }
            told += run.len();
            self.facts().written(next);
        }
        if told > 0 {
            tracing::warn!(
                told,
                moved,
                "another Redis answers: what it may have lost is written again"
            );
        }
        Ok(())
    }

    /// Throws this connection away unless another took its place.
    async fn discard(&self, generation: u64) {
        let mut standing = self.standing.lock().await;
        if standing.as_ref().is_some_and(|standing| standing.generation == generation) {
            *standing = None;
        }
    }

    /// Runs a step.
    pub(super) async fn run(&self, call: Call, at: At) -> StoreResult<Value> {
        self.run_noting(call, at).await.map_err(|(error, _)| error)
    }

    /// Runs a step; an error says whether the step may have happened.
    pub(super) async fn run_noting(&self, call: Call, at: At) -> Result<Value, (StoreError, bool)> {
        self.tried(Work::Step(&call, at)).await
    }

    /// Runs a command that may be repeated freely.
    pub(super) async fn command(&self, command: &Cmd) -> StoreResult<Value> {
        self.tried(Work::Command(command)).await.map_err(|(error, _)| error)
    }

    /// Runs commands that may be repeated freely in one round trip; gives their answers.
    pub(super) async fn commands(&self, commands: &Pipeline) -> StoreResult<Value> {
        self.tried(Work::Commands(commands)).await.map_err(|(error, _)| error)
    }

    async fn attempt(
        &self,
        work: &Work<'_>,
        connection: &mut Connection,
        again: bool,
    ) -> RedisResult<Value> {
        let (call, at) = match work {
            Work::Command(command) => return command.query_async(connection).await,
            Work::Commands(commands) => {
                return commands.query_async(connection).await.map(Value::Array);
            }
            Work::Step(call, at) => (*call, *at),
        };
        let (script, tag) = (call.step.script(), self.keys.tag(None));
        let by_hash = call.command("EVALSHA", &script.hash, &tag, at, again);
        match by_hash.query_async::<Value>(connection).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                let whole = call.command("EVAL", &script.text, &tag, at, again);
                whole.query_async::<Value>(connection).await
            }
            result => result,
        }
    }

    /// Tries until the deadline.
    async fn tried(&self, work: Work<'_>) -> Result<Value, (StoreError, bool)> {
        let deadline = Instant::now() + DEADLINE;
        let (mut wait, mut again) = (WAIT, false);
        loop {
            let attempted = tokio::time::timeout_at(deadline, async {
                let (mut connection, generation) =
                    self.connection().await.map_err(|error| (error, None))?;
                let result = self.attempt(&work, &mut connection, again).await;
                result.map_err(|error| (error, Some(generation)))
            })
            .await;
            let (error, generation) = match attempted {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(failed)) => failed,
                // What was asked may be written already.
                Err(_) => return Err((unavailable("no answer in time"), true)),
            };
            match next(&error) {
                Next::Give => return Err((unavailable(&error.to_string()), again)),
                Next::Wait => {}
                Next::Reconnect { lost } => {
                    again |= lost && generation.is_some();
                    if let Some(generation) = generation {
                        self.discard(generation).await;
                    }
                }
            }
            if Instant::now() + wait >= deadline {
                return Err((unavailable(&error.to_string()), again));
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }

    /// One try without a deadline of its own, for the start.
    pub(super) async fn once(&self, call: Call) -> RedisResult<Value> {
        let (mut connection, _) = self.connection().await?;
        let tag = self.keys.tag(None);
        let whole = call.command("EVAL", &call.step.script().text, &tag, At::Store, false);
        whole.query_async(&mut connection).await
    }
}

/// Gives the server every script: in two round trips where there is one server, since over a slow line
/// that many would outlast every patience; a Cluster's client sends each to all its masters.
async fn load_scripts(connection: &mut Connection) -> RedisResult<()> {
    let load = |step: &Step| {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(&step.script().text);
        load
    };
    let mut rest = Step::ALL.iter();
    // The first alone: its error is the server's plain word, not one for each script.
    if let Some(first) = rest.next() {
        load(first).query_async::<Value>(connection).await?;
    }
    if let Connection::One(one) = connection {
        let mut all = redis::pipe();
        for step in rest {
            all.add_command(load(step)).ignore();
        }
        return all.query_async(one).await;
    }
    for step in rest {
        load(step).query_async::<Value>(connection).await?;
    }
    Ok(())
}

pub(super) fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

fn next(error: &RedisError) -> Next {
    match error.kind() {
        ErrorKind::Io => Next::Reconnect { lost: true },
        ErrorKind::ClusterConnectionNotFound
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel
        | ErrorKind::AuthenticationFailed
        | ErrorKind::Parse => Next::Reconnect { lost: true },
        ErrorKind::Server(kind) => match kind {
            ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask => Next::Reconnect { lost: false },
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown => Next::Wait,
            _ => by_code(error),
        },
        _ => by_code(error),
    }
}

/// Codes the client library has no name for. A script's own error carries the code in front.
fn by_code(error: &RedisError) -> Next {
    match error.code().unwrap_or_default() {
        "BUSY" => Next::Wait,
        "UNBLOCKED" | "NOREPLICAS" | "NOAUTH" => Next::Reconnect { lost: false },
        _ if error.to_string().contains("READONLY") => Next::Reconnect { lost: false },
        _ => Next::Give,
    }
}
