//! Moses' XML-RPC: the calls that clients of `mosesserver` make.
//!
//! The text of a call has the form of a line for `miriam translate`. In the text of a response a
//! space follows every word, as in Moses.

mod fixed_members;
mod graph;
mod limits;
pub mod parse;
mod translate;
pub mod value;

use std::sync::Arc;

use hyper::{Method, StatusCode};

use super::{serves_page, status, with_retry, wrong_method};
use crate::app::App;
use crate::http::{Call, Response, respond};
use crate::refusal::Refusal;
use parse::{MethodCall, parse_call};
use value::{Fault, Value, multicall_entry, write_response};

/// The media type of calls and responses.
const XML: &str = "text/xml; charset=utf-8";

/// The supported methods.
const METHODS: [&str; 6] = [
    "close_session",
    "system.listMethods",
    "system.methodHelp",
    "system.methodSignature",
    "system.multicall",
    "translate",
];

/// Unsupported methods of `mosesserver` for the tables and weights of a model, with the reason.
const UNAVAILABLE: [(&str, &str); 5] = [
    ("updater", "tables do not change while they are served"),
    ("optimize", "weights are tuned by miriam tune"),
    ("setWeights", "weights are those of the configuration, for all clients"),
    ("addWeights", "weights are those of the configuration, for all clients"),
    ("getWeights", "GET /v1/models describes the models"),
];

/// The most calls of one `system.multicall`.
const MAX_CALLS: usize = 1000;

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Response {
    if call.method != Method::POST {
        let has_page = call.path == "/" && serves_page(app);
        return wrong_method(if has_page { "GET, POST" } else { "POST" });
    }
    let outcome = match parse_call(&call.body) {
        Ok(method_call) => run(app, call, &method_call).await,
        Err(fault) => Err(Failure::Fault(fault)),
    };
    match outcome {
        Ok(value) => respond(StatusCode::OK, XML, write_response(&Ok(value))),
        Err(Failure::Fault(fault)) => respond(StatusCode::OK, XML, write_response(&Err(fault))),
        Err(Failure::Refusal(refusal)) => refuse(&refusal),
    }
}

/// The reason for a response without a value.
enum Failure {
    /// The call failed.
    Fault(Fault),
    /// The server rejects the request.
    Refusal(Refusal),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refusal(refusal)
    }
}

/// Returns the response to a refused request: an HTTP error if a retry may succeed or the key is
/// missing, otherwise a fault.
pub(super) fn refuse(refusal: &Refusal) -> Response {
    if refusal.retry_after().is_some() || matches!(refusal, Refusal::Unauthorized) {
        let text = format!("{}\n", refusal.detail());
        return with_retry(refusal, respond(status(refusal), "text/plain", text));
    }
    respond(StatusCode::OK, XML, write_response(&Err(fault_of(refusal))))
}

fn fault_of(refusal: &Refusal) -> Fault {
    let code = match refusal {
        Refusal::Invalid(_) | Refusal::Route(_) => Fault::PARSE,
        Refusal::TooLarge(_) => Fault::LIMIT,
        Refusal::Deadline => Fault::TIMEOUT,
        Refusal::Internal(_) => Fault::INTERNAL,
        _ => Fault::REFUSED,
    };
    Fault::new(code, refusal.detail())
}

async fn run(app: &Arc<App>, call: &Call, wanted: &MethodCall) -> Result<Value, Failure> {
    match &*wanted.method {
        "system.multicall" => multicall(app, call, wanted).await,
        _ => run_one(app, call, wanted).await,
    }
}

async fn run_one(app: &Arc<App>, call: &Call, wanted: &MethodCall) -> Result<Value, Failure> {
    fn names_translate(wanted: &MethodCall) -> Result<bool, Fault> {
        match wanted.parameters.first() {
            Some(Value::String(name)) if METHODS.contains(&&**name) => Ok(name == "translate"),
            Some(Value::String(name)) => {
                Err(Fault::new(Fault::NO_METHOD, format!("Method '{name}' not defined")))
            }
            _ => Err(Fault::new(Fault::TYPE, "the name of a method is needed")),
        }
    }
    fn string(text: &str) -> Value {
        Value::String(text.to_owned())
    }
    Ok(match &*wanted.method {
        "translate" => translate::run(app, call, wanted).await?,
        "close_session" => string("Session closed"),
        "system.listMethods" => Value::Array(METHODS.map(string).into()),
        "system.methodHelp" => {
            if names_translate(wanted)? {
                string("Does translation")
            } else {
                string("")
            }
        }
        "system.methodSignature" => {
            if names_translate(wanted)? {
                Value::Array(vec![Value::Array(vec![string("struct"), string("struct")])])
            } else {
                string("undef")
            }
        }
        name => {
            let known = UNAVAILABLE.iter().find(|(unavailable, _)| *unavailable == name);
            let why = known.map(|(_, reason)| format!(": {reason}")).unwrap_or_default();
            let reason = format!("Method '{name}' not defined{why}");
            return Err(Fault::new(Fault::NO_METHOD, reason).into());
        }
    })
}

/// Answers several calls in one, each with a response or a fault.
async fn multicall(app: &Arc<App>, call: &Call, wanted: &MethodCall) -> Result<Value, Failure> {
    let [Value::Array(calls)] = &wanted.parameters[..] else {
        return Err(Fault::new(Fault::TYPE, "an array of calls is needed").into());
    };
    if calls.len() > MAX_CALLS {
        let reason = format!("{} calls; {MAX_CALLS} are allowed", calls.len());
        return Err(Fault::new(Fault::LIMIT, reason).into());
    }
    let mut results = Vec::with_capacity(calls.len());
    for one in calls {
        let outcome = match (one.member("methodName"), one.member("params")) {
            (Some(Value::String(name)), _) if name == "system.multicall" => {
                Err(Fault::new(Fault::REFUSED, "Recursive system.multicall forbidden"))
            }
            (Some(Value::String(method)), Some(Value::Array(parameters))) => {
                let wanted = MethodCall { method: method.clone(), parameters: parameters.clone() };
                match run_one(app, call, &wanted).await {
                    Ok(value) => Ok(value),
                    Err(Failure::Fault(fault)) => Err(fault),
                    // The client retries the whole call.
                    Err(Failure::Refusal(refusal)) if refusal.retry_after().is_some() => {
                        return Err(Failure::Refusal(refusal));
                    }
                    Err(Failure::Refusal(refusal)) => Err(fault_of(&refusal)),
                }
            }
            _ => Err(Fault::new(Fault::TYPE, "a call has a methodName and params")),
        };
        results.push(multicall_entry(outcome));
    }
    Ok(Value::Array(results))
}
