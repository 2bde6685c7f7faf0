//! Recording, and kept answers.
use super::super::records::SendIndex;
use super::super::steps::{
    At, Idempotency, Kept, Lane, OpenStep, Opened, Opening, QueueName, StoreResult,
};
use super::Redis;
use super::keys::{Fixed, hashed};
use super::link::Call;
use super::records::halves;
use super::reply::{bytes, count, list, odd, take, text};
use super::scripts::Step;
use async_trait::async_trait;

#[async_trait]
impl Opening for Redis {
    async fn open(&self, step: OpenStep, at: At) -> StoreResult<Opened> {
        let mut answer = list(self.link.run(self.opening(&step)?, at).await?)?.into_iter();
        match text(take(&mut answer)?)?.as_str() {
            "opened" => Ok(Opened::Opened),
            "conflict" => Ok(Opened::Conflict),
            "opted_out" => Ok(Opened::OptedOut),
            "twin" => Ok(Opened::Twin(bytes(take(&mut answer)?)?.unwrap_or_default())),
            "full" => Ok(Opened::BacklogFull { depth: count(take(&mut answer)?)? }),
            _ => Err(odd("an opening's answer")),
        }
    }
}

impl Redis {
    fn opening(&self, step: &OpenStep) -> StoreResult<Call> {
        let keys = &self.link.keys;
        let audience = step.audience.as_deref().map(hashed).unwrap_or_default();
        let key = step.idempotency.as_ref().map(|(hash, _)| hash.as_str()).unwrap_or_default();
        let call = Call::new(
            Step::Open,
            [
                keys.notification(&step.notification),
                keys.fixed(Fixed::Sequence),
                keys.fixed(Fixed::Ring),
                keys.slice(&audience),
                keys.fixed(Fixed::SliceExpiries),
                keys.kept(key),
                keys.fixed(Fixed::KeptExpiries),
            ],
        );
        let call = call
            .arg(step.notification.as_str())
            .arg(&step.body)
            .arg(&audience)
            .number(step.ring)
            .number(step.audience_ttl.as_millis())
            .arg(key);
        let kept = step.idempotency.as_ref().map(|(_, kept)| kept);
        let call = call
            .arg(kept.map(|kept| kept.fingerprint.as_slice()).unwrap_or_default())
            .arg(kept.map(|kept| kept.state.as_ref()).unwrap_or_default())
            .number(step.keep_for.as_millis());
        // Behind all others: the trace and how long it is kept.
        let traced = |call: Call| match &step.trace {
            Some(trace) => call.arg(&trace.trace).number(trace.keep.as_millis()),
            None => call.arg("").arg(""),
        };
        let Some(send) = &step.send else { return Ok(traced(call.arg(""))) };
        let (header, rest) = halves(&send.record)?;
        let queue = QueueName::out(&send.channel);
        let owners = send.owners.iter().map(|owner| SendIndex::Owner(owner.clone()));
        let recipient = SendIndex::Recipient(send.channel.clone(), send.lane.clone());
        let call = call
            .keys([
                keys.send(&send.id),
                keys.index(&SendIndex::Channel(send.channel.clone())),
                keys.index(&recipient),
                keys.fixed(Fixed::Active),
            ])
            .keys(keys.queue(&queue, &Lane(send.lane.0.clone())))
            .keys(owners.map(|owner| keys.index(&owner)))
            .arg(send.id.as_str())
            .arg(header)
            .arg(rest)
            .number(send.created_at.0)
            .number(send.expires_at.0)
            .number(send.backlog_max)
            .number(send.lane_max)
            .arg(queue.as_str())
            .arg(&send.lane.0);
        Ok(traced(call))
    }
}

#[async_trait]
impl Idempotency for Redis {
    async fn kept(&self, hash: &str, at: At) -> StoreResult<Option<Kept>> {
        let call = Call::new(Step::Kept, [self.link.keys.kept(hash)]);
        let Some(kept) = bytes(self.link.run(call, at).await?)? else { return Ok(None) };
        let fingerprint = kept.get(..32).and_then(|bytes| bytes.try_into().ok());
        let fingerprint = fingerprint.ok_or_else(|| odd("a kept answer is cut"))?;
        Ok(Some(Kept { fingerprint, state: kept.slice(32..) }))
    }

    async fn keep(&self, hash: &str, kept: Kept, at: At) -> StoreResult<()> {
        let call = Call::new(Step::Keep, [self.link.keys.kept(hash)])
            .arg(kept.fingerprint)
            .arg(&kept.state);
        self.link.run(call, at).await.map(|_| ())
    }
}
