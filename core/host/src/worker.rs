//! A worker: a process of the program's own binary that serves one plugin. This is its side; [`crate::hosted`] is the
//! other.
//!
//! The host starts `PROGRAM __plugin-host` with one end of a socket pair as its standard input. The worker limits
//! itself, loads the plugin that it is told, and answers until the socket is closed.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use agon_abi::AgonPlugin;
use agon_sdk::hosting::{Instance, Plugin, set_logger};
use agon_sdk::values::{Fault, ReadAt, Source, Status};

use crate::load::Candidate;
use crate::wire::{Blob, Code, FEATURES, Forbidden, FromWorker, PROTOCOL, Reply, ToWorker, receive, send};
use crate::{Error, conformance, discover, sandbox};

/// The hidden subcommand by which the program serves as a worker.
pub const SUBCOMMAND: &str = "__plugin-host";
/// The stack of the thread on which a worker calls its plugin, in bytes.
pub const STACK: usize = 64 << 20;

/// Serves until the host goes away. To be called by the hidden subcommand, before other threads are started; `linked`
/// are the tracks that are linked into the program.
pub fn serve(linked: &'static [&'static AgonPlugin]) -> Result<(), Error> {
    let socket = socket().map_err(|e| {
        Error(format!(
            "`{SUBCOMMAND}` is how agon starts its own workers, with a socket as standard input; it is not for use by \
             hand: {e}"
        ))
    })?;
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || serve_on(socket, linked));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(result)) => result.map_err(|e| Error(format!("the connection to the host broke: {e}"))),
        Ok(Err(_)) => Err(Error("the worker panicked".into())),
        Err(e) => Err(Error(format!("the worker cannot start its thread: {e}"))),
    }
}

/// The socket, moved away from where a plugin might read or write.
fn socket() -> io::Result<UnixStream> {
    let null = File::open("/dev/null")?;
    // SAFETY: the descriptors are valid numbers; `dup2` puts /dev/null in the place of the standard input.
    unsafe {
        let fd = libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 64);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = UnixStream::from(OwnedFd::from_raw_fd(fd));
        socket.peer_addr()?;
        if libc::dup2(null.as_raw_fd(), 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }
}

/// Ends the process when the host is gone, whatever the plugin is doing.
fn watch(socket: &UnixStream) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        let mut poll = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
        loop {
            // SAFETY: the pointer is to one table on the stack; the socket is never closed.
            let n = unsafe { libc::poll(&raw mut poll, 1, -1) };
            if n > 0 && poll.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0 {
                // SAFETY: it ends the process without running anything.
                unsafe { libc::_exit(3) };
            }
        }
    })?;
    Ok(())
}

/// The connection, shared with the readers of a call.
type Connection = Arc<Mutex<UnixStream>>;

fn tell(connection: &Connection, message: &FromWorker) -> io::Result<()> {
    send(&mut *connection.lock().unwrap_or_else(PoisonError::into_inner), message)
}

fn next(connection: &Connection) -> io::Result<ToWorker> {
    receive(&mut *connection.lock().unwrap_or_else(PoisonError::into_inner))
}

fn serve_on(socket: UnixStream, linked: &'static [&'static AgonPlugin]) -> io::Result<()> {
    watch(&socket)?;
    let connection: Connection = Arc::new(Mutex::new(socket));
    let ToWorker::Hello { protocol, restrictions, .. } = next(&connection)? else {
        return Err(io::Error::other("the first message was no hello"));
    };
    let features = FEATURES.iter().map(|f| (*f).to_string()).collect();
    tell(&connection, &FromWorker::Hello { protocol: PROTOCOL, features })?;
    if protocol != PROTOCOL {
        let why = format!("the host speaks protocol {protocol}, and this worker {PROTOCOL}");
        return tell(&connection, &FromWorker::Refused(why));
    }
    let writing = restrictions.forbidden == Forbidden::Allowed;
    let restricted = sandbox::limits(restrictions.memory_bytes, restrictions.files, writing).and_then(|()| {
        match restrictions.forbidden {
            Forbidden::Allowed => Ok(()),
            Forbidden::Fails => sandbox::filter(sandbox::Denied::Fails, false),
        }
    });
    if let Err(why) = restricted {
        return tell(&connection, &FromWorker::Refused(format!("the worker cannot be restricted: {why}")));
    }
    let ToWorker::Load(code) = next(&connection)? else {
        return Err(io::Error::other("the second message was not what to load"));
    };
    let log = Arc::clone(&connection);
    set_logger(Some(Arc::new(move |_, level, line| {
        let _ = tell(&log, &FromWorker::Log(level, line.to_string()));
    })));
    let before = conformance::state::State::now();
    let plugin = match load(&code, linked) {
        Ok(plugin) => plugin,
        Err(why) => return tell(&connection, &FromWorker::Refused(why.0)),
    };
    tell(&connection, &FromWorker::Loaded(plugin.identity().clone(), plugin.description_json().to_string()))?;
    let mut track: Option<Instance> = None;
    loop {
        let mut message = match next(&connection) {
            Ok(message) => message,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        };
        if let ToWorker::Check(name) = &message {
            let found = conformance::rules::run(name, &plugin, &before);
            tell(&connection, &FromWorker::Checked(found))?;
            continue;
        }
        message.each(&mut |source| {
            if let Source::Remote(number, size) = *source {
                *source = Source::Reader(Arc::new(Remote {
                    connection: Arc::clone(&connection),
                    number,
                    size,
                    cache: Mutex::new((0, Vec::new())),
                }));
            }
        });
        let result = call(&plugin, &mut track, message);
        tell(&connection, &FromWorker::Done(Box::new(result), resident()))?;
    }
}

fn load(code: &Code, linked: &'static [&'static AgonPlugin]) -> Result<Plugin, Error> {
    match code {
        Code::Linked(id) => {
            for descriptor in linked {
                let plugin = discover::linked_plugin(descriptor)?;
                if plugin.identity().id == *id {
                    return Ok(plugin);
                }
            }
            Err(Error(format!("the track `{id}` is not linked into this program")))
        }
        Code::File { path, blake3, trust_permissions } => {
            let candidate = Candidate::examine(Path::new(path), *trust_permissions)?;
            if candidate.hashes.blake3 != *blake3 {
                return Err(Error(format!(
                    "the plugin {} has changed since it was found (BLAKE3 {blake3}, then {}); start again",
                    path.display(),
                    candidate.hashes.blake3
                )));
            }
            candidate.load()
        }
    }
}

fn call(plugin: &Plugin, track: &mut Option<Instance>, message: ToWorker) -> Result<Reply, Fault> {
    if let ToWorker::Open(parameters) = &message {
        *track = Some(plugin.open(parameters)?);
        return Ok(Reply::Opened);
    }
    let track = track.as_ref().ok_or_else(|| Fault::new(Status::InvalidArgument, "no track is open"))?;
    match message {
        ToWorker::Prepare(job) => track.prepare(&job).map(Reply::Plan),
        ToWorker::Judge(job, observation) => track.judge(&job, &observation).map(Reply::Judgement),
        ToWorker::RunInternal(operation, job, inputs) => {
            track.run_internal(&operation, &job, &inputs).map(Reply::Findings)
        }
        ToWorker::Conclude(job, observation, judgement, validations) => {
            track.conclude(&job, &observation, &judgement, &validations).map(Reply::Judgement)
        }
        ToWorker::Explain(job, observation, judgement, validations) => {
            track.explain(&job, &observation, &judgement, &validations).map(Reply::Explanation)
        }
        ToWorker::Hello { .. } | ToWorker::Load(_) | ToWorker::Open(_) | ToWorker::Check(_) | ToWorker::Bytes(_) => {
            Err(Fault::new(Status::InvalidArgument, "the host sent a message that is no call"))
        }
    }
}

/// The resident memory of this process in bytes; 0 if it cannot be told.
pub(crate) fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok()))
        .unwrap_or(0);
    // SAFETY: it has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages * u64::try_from(page).unwrap_or(4096)
}

/// Bytes that the host has.
struct Remote {
    connection: Connection,
    number: u32,
    size: Option<u64>,
    /// The last piece that was asked for, and where it begins.
    cache: Mutex<(u64, Vec<u8>)>,
}

/// How many bytes are asked for at once.
const PIECE: u32 = 1 << 20;

impl ReadAt for Remote {
    fn size(&self) -> Option<u64> {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if offset < cache.0 || offset - cache.0 >= cache.1.len() as u64 {
            let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            send(&mut *connection, &FromWorker::Read(self.number, offset, PIECE))?;
            match receive(&mut *connection)? {
                ToWorker::Bytes(Some(Blob(bytes))) => *cache = (offset, bytes),
                ToWorker::Bytes(None) => return Err(io::Error::other("the host cannot read these bytes")),
                _ => return Err(io::Error::other("the host sent something else than bytes")),
            }
        }
        let at = usize::try_from(offset - cache.0).unwrap_or(usize::MAX);
        let rest = cache.1.get(at..).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}
