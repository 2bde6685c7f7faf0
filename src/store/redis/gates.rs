//! Pacing lanes and parked accounts.
use super::super::pace::{Breath, Gates, Parked, Rate};
use super::super::steps::{At, Lane, QueueName, StoreResult};
use super::Redis;
use super::link::Call;
use super::queue::time;
use super::reply::{list, number, take, text};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use contract::ChannelName;
use redis::Value;
use std::time::Duration;

#[async_trait]
impl Gates for Redis {
    async fn penalise(
        &self,
        channel: &ChannelName,
        lane: Option<&Lane>,
        until: Millis,
        rate: Rate,
        at: At,
    ) -> StoreResult<()> {
        let call = Call::new(Step::Penalise, [self.link.keys.pace(channel, lane)])
            .number(until.0)
            .number(rate.interval)
            .number(rate.tolerance);
        self.link.run(call, at).await.map(|_| ())
    }

    async fn breath(&self, channel: &ChannelName, lane: &Lane, at: At) -> StoreResult<Breath> {
        let keys = &self.link.keys;
        let lanes = [keys.pace(channel, None), keys.pace(channel, Some(lane))];
        let answer = list(self.link.run(Call::new(Step::Breath, lanes), at).await?)?;
        let mut answer = answer.into_iter();
        Ok(Breath { account: time(take(&mut answer)?)?, recipient: time(take(&mut answer)?)? })
    }

    async fn park(
        &self,
        channel: &ChannelName,
        reason: &str,
        wait: Duration,
        at: At,
    ) -> StoreResult<(Parked, bool)> {
        let call = Call::new(Step::Park, [self.link.keys.parking(channel.as_str())])
            .arg(reason)
            .number(wait.as_millis());
        let mut answer = list(self.link.run(call, at).await?)?.into_iter();
        let parked = parked(&mut answer)?;
        Ok((parked, number(take(&mut answer)?)? == 1))
    }

    async fn parked(&self, channel: &ChannelName) -> StoreResult<Option<Parked>> {
        let call = Call::new(Step::Parked, [self.link.keys.parking(channel.as_str())]);
        maybe(self.link.run(call, At::Store).await?)
    }

    async fn probation(
        &self,
        channel: &ChannelName,
        longest: Duration,
        at: At,
    ) -> StoreResult<bool> {
        let call = Call::new(Step::Probation, [self.link.keys.parking(channel.as_str())])
            .number(longest.as_millis());
        Ok(number(self.link.run(call, at).await?)? == 1)
    }

    async fn unpark(&self, channel: &ChannelName, at: At) -> StoreResult<Option<Parked>> {
        let call = Call::new(Step::Unpark, [self.link.keys.parking(channel.as_str())])
            .arg(QueueName::out(channel).as_str());
        maybe(self.link.run(call, at).await?)
    }
}

fn maybe(answer: Value) -> StoreResult<Option<Parked>> {
    let fields = list(answer)?;
    if fields.is_empty() { Ok(None) } else { parked(&mut fields.into_iter()).map(Some) }
}

fn parked(fields: &mut impl Iterator<Item = Value>) -> StoreResult<Parked> {
    let since = Millis(number(take(fields)?)?);
    let until = Millis(number(take(fields)?)?);
    let wait = Duration::from_millis(u64::try_from(number(take(fields)?)?).unwrap_or(0));
    Ok(Parked { reason: text(take(fields)?)?, since, until, wait })
}
