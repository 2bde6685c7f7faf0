//! The HTTP client of the command line, and where it finds its gateway.
use super::{DONE, REFUSED, UNREACHABLE};
use serde_json::Value;
use std::time::Duration;

/// Tries after a connection that could not be made.
const RECONNECTS: u32 = 2;

/// A gateway to talk to.
pub struct Client {
    url: String,
    key: Option<String>,
    http: reqwest::Client,
}

/// An answer.
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body text.
    pub text: String,
}

impl Answer {
    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }
    /// True for a 2xx.
    #[must_use]
    pub fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Client {
    /// The gateway of `TIDINGS_URL` and `TIDINGS_KEY`, or the one whose files lie in
    /// `./tidings-data`.
    ///
    /// # Errors
    /// A sentence for standard error.
    pub fn find() -> Result<Self, String> {
        let file = |name: &str| {
            std::fs::read_to_string(format!("tidings-data/{name}"))
                .ok()
                .map(|t| t.trim().to_owned())
        };
        let url = std::env::var("TIDINGS_URL").ok().or_else(|| file("address"));
        let url = url.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
        let key = std::env::var("TIDINGS_KEY").ok().or_else(|| file("operator.key"));
        let http = http_client()?;
        Ok(Self { url: url.trim_end_matches('/').to_owned(), key, http })
    }

    /// One call; a connection that cannot be made is tried again twice.
    ///
    /// # Errors
    /// A sentence for standard error: the gateway cannot be reached.
    pub async fn call(
        &self,
        method: reqwest::Method,
        path: &str,
        headers: &[(&str, String)],
        body: Option<String>,
    ) -> Result<Answer, String> {
        let mut tries = 0;
        loop {
            let mut request = self.http.request(method.clone(), format!("{}{path}", self.url));
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            for (name, value) in headers {
                request = request.header(*name, value);
            }
            if let Some(body) = &body {
                request = request.header("content-type", "application/json").body(body.clone());
            }
            match request.send().await {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let text = response.text().await.map_err(|_| self.unreachable())?;
                    return Ok(Answer { status, text });
                }
                Err(_) if tries < RECONNECTS => {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(_) => return Err(self.unreachable()),
            }
        }
    }

    /// A `GET`.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn get(&self, path: &str) -> Result<Answer, String> {
        self.call(reqwest::Method::GET, path, &[], None).await
    }

    fn unreachable(&self) -> String {
        format!("cannot reach a gateway at {}; start one, or set TIDINGS_URL", self.url)
    }
}

/// An HTTP client with the roots and the TLS provider of this binary; proxies of the environment
/// are ignored.
///
/// # Errors
/// A sentence for standard error.
pub fn http_client() -> Result<reqwest::Client, String> {
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(90))
        .build()
        .map_err(|error| error.to_string())
}

/// Runs a client command on a small runtime.
pub fn run<F, Fut>(command: F) -> u8
where
    F: FnOnce(Client) -> Fut,
    Fut: Future<Output = Result<u8, String>>,
{
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("tidings: {error}");
            return REFUSED;
        }
    };
    let outcome = runtime.block_on(async {
        match Client::find() {
            Ok(client) => command(client).await,
            Err(error) => Err(error),
        }
    });
    outcome.unwrap_or_else(|error| {
        eprintln!("tidings: {error}");
        UNREACHABLE
    })
}

/// Prints a refusal: one line per problem on standard error, with `--json` the document on
/// standard output too.
pub fn refused(answer: &Answer, json: bool) -> u8 {
    let problem = answer.json();
    if json {
        println!("{}", answer.text);
    }
    let text = |name: &str| problem[name].as_str().unwrap_or_default().to_owned();
    eprintln!("tidings: {} ({}): {}", text("code"), answer.status, text("detail"));
    if answer.status == 401 && !json {
        eprintln!("  the key comes from TIDINGS_KEY, else from ./tidings-data/operator.key");
    }
    if let Some(send) = problem["send"]["id"].as_str().filter(|_| !json) {
        let fault = &problem["send"]["fault"];
        let part = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        println!("{}", text("notification"));
        println!(
            "{send} {} {}",
            part(&problem["send"]["channel"]),
            part(&problem["send"]["status"])
        );
        eprintln!(
            "  {} ({}): {}",
            part(&fault["code"]),
            part(&fault["class"]),
            part(&fault["detail"])
        );
        eprintln!("  it is recorded; `tidings sends show {send}` tells what becomes of it");
    }
    let errors = problem["errors"].as_array().cloned().unwrap_or_default();
    if errors.len() > 1 && !json {
        for error in &errors {
            let part = |name: &str| error[name].as_str().unwrap_or_default();
            eprintln!("  {}: {} ({})", part("field"), part("detail"), part("code"));
        }
    }
    REFUSED
}

/// Prints an answer: the body with `--json`, else what `show` makes of it.
pub fn print(answer: &Answer, json: bool, show: impl FnOnce(&Value)) -> u8 {
    if !answer.is_done() {
        return refused(answer, json);
    }
    if json {
        println!("{}", answer.text);
    } else {
        show(&answer.json());
    }
    DONE
}

/// A query string of the given pairs, absent ones left out.
#[must_use]
pub fn query(pairs: &[(&str, Option<String>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { query } else { format!("?{query}") }
}
