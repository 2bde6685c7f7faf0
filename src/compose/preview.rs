//! The dry run: what each channel would do with a content, and the exact requests.
use super::judge::{Composer, Judged};
use super::media::Mint;
use crate::problem::Refused;
use crate::registry::Channel;
use kit::view::{Mask, part_views};
use serde_json::{Value, json};

impl Composer {
    /// The previews: of the one channel the request names, or of every registered one.
    ///
    /// # Errors
    /// 404 `unknown_channel`; 503 when the store cannot be reached.
    pub async fn preview(&self, judged: &Judged) -> Result<Value, Refused> {
        let channels: Vec<_> = match &judged.request.channel {
            Some(name) => {
                vec![self.channels.get(name).ok_or_else(|| self.unknown_channel())?]
            }
            None => self.channels.iter().collect(),
        };
        let all = judged.request.channel.is_none();
        let mut rows = Vec::with_capacity(channels.len());
        for channel in channels {
            rows.push(self.preview_of(judged, &channel, all).await?);
        }
        Ok(json!({ "channels": rows }))
    }

    async fn preview_of(
        &self,
        judged: &Judged,
        channel: &Channel,
        all: bool,
    ) -> Result<Value, Refused> {
        let row = |verdict: &str, problem: Value, degrades: Value, requests: Value| {
            json!({
                "channel": channel.name, "medium": channel.medium, "verdict": verdict,
                "problem": problem, "degrades": degrades, "requests": requests,
            })
        };
        let judged_here =
            self.on_channel(&judged.request, channel, None, Mint::Literals, all).await;
        match judged_here {
            Ok((_, _, rendered)) => {
                let frame_url = format!("/chat/{}/stream", channel.name);
                let requests: Vec<Value> = rendered
                    .parts
                    .iter()
                    .flat_map(|part| part_views(part, &frame_url, Mask::Hidden))
                    .collect();
                let verdict = if rendered.degrades.is_empty() { "native" } else { "degraded" };
                Ok(row(verdict, Value::Null, json!(rendered.degrades), json!(requests)))
            }
            Err(refused) if refused.status() == 503 => Err(refused),
            Err(refused) => {
                let verdict = if refused.status() == 501 { "declined" } else { "refused" };
                Ok(row(verdict, refused.document(), json!([]), json!([])))
            }
        }
    }
}
