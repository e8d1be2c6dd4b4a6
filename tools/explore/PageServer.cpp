// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes libevent.
#include "tools/explore/PageServer.h"
#include "tools/explore/Gate.h"
#include "tools/explore/HttpReply.h"
#include <arpa/inet.h>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <memory>
#include <mutex>
#include <netinet/tcp.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace foretrace::explore {

namespace {

/// A thread for slow requests, so that the server answers moves meanwhile. It
/// makes one reply at a time. A new search cancels the one before, for which no
/// client waits any longer.
class SearchThread {
public:
  /// Calls \p Wake, on its own thread, when there is something to deliver.
  explicit SearchThread(std::function<void()> Wake);
  /// Cancels all searches; no result is delivered.
  ~SearchThread();
  SearchThread(const SearchThread &) = delete;
  SearchThread &operator=(const SearchThread &) = delete;

  using Receiver = std::function<void(const HttpReply &)>;
  /// Makes \p Reply, for \p Then.
  void begin(SlowReply Reply, Receiver Then);
  /// Delivers finished replies to the connections that wait for them.
  void deliver();

private:
  struct Search {
    SlowReply Reply;
    Receiver Then;
  };

  void run();
  void end(Search Of, HttpReply With);

  const std::function<void()> Wake;
  std::mutex Guard; ///< of what follows
  std::condition_variable HasChanged;
  std::optional<Search> Next;
  CancelFlag Current; ///< of the search that runs; null if none does
  std::vector<std::pair<Receiver, HttpReply>> Made;
  bool IsOver = false;
  std::thread Thread; ///< the last member: it uses the others
};

} // namespace

SearchThread::SearchThread(std::function<void()> Wake)
    : Wake(std::move(Wake)), Thread([this] { run(); }) {}

SearchThread::~SearchThread() {
  {
    const std::lock_guard<std::mutex> Held(Guard);
    IsOver = true;
    Next.reset();
    if (Current)
      *Current = true;
  }
  HasChanged.notify_one();
  Thread.join();
}

/// Keeps \p With until it is delivered. The caller holds the lock.
void SearchThread::end(Search Of, HttpReply With) {
  if (*Of.Reply.IsCancelled)
    With = refuse(409, "another search has begun");
  Made.emplace_back(std::move(Of.Then), std::move(With));
}

void SearchThread::begin(SlowReply Reply, Receiver Then) {
  {
    const std::lock_guard<std::mutex> Held(Guard);
    if (Current)
      *Current = true;
    if (Next) {
      *Next->Reply.IsCancelled = true;
      end(std::move(*Next), {});
    }
    Next = {std::move(Reply), std::move(Then)};
  }
  HasChanged.notify_one();
  deliver();
}

void SearchThread::deliver() {
  std::vector<std::pair<Receiver, HttpReply>> All;
  {
    const std::lock_guard<std::mutex> Held(Guard);
    All.swap(Made);
  }
  for (const auto &[Then, Reply] : All)
    Then(Reply);
}

void SearchThread::run() {
  std::unique_lock<std::mutex> Held(Guard);
  while (true) {
    HasChanged.wait(Held, [&] { return Next || IsOver; });
    if (IsOver)
      return;
    Search Of = std::move(*Next);
    Next.reset();
    Current = Of.Reply.IsCancelled;
    Held.unlock();
    HttpReply Reply = Of.Reply.Make();
    Of.Reply.Make = nullptr; // frees the session outside the lock
    Held.lock();
    Current = nullptr;
    end(std::move(Of), std::move(Reply));
    Held.unlock();
    Wake();
    Held.lock();
  }
}

static constexpr char Loopback[] = "127.0.0.1";
/// Bounds of a request: bytes, and seconds until all of it must be here.
static constexpr int MostHeaderBytes = 16 << 10, MostBodyBytes = 2 << 20,
                     MostSeconds = 10;
/// Connections that are open at a time: a browser has six, or a few more.
/// Others wait until one is closed, which is looked for as often as that.
static constexpr int MostConnections = 64;
static constexpr timeval Wait = {0, 50'000};

namespace {

template <auto Free> struct FreeWith {
  template <typename T> void operator()(T *Of) const { Free(Of); }
};
using BasePtr = std::unique_ptr<event_base, FreeWith<event_base_free>>;
using HttpPtr = std::unique_ptr<evhttp, FreeWith<evhttp_free>>;
using EventPtr = std::unique_ptr<event, FreeWith<event_free>>;

/// The pages and searches that a request can ask for.
struct Served {
  Endpoints &Pages;
  SearchThread &Searches;
  Gate Guard;
};

/// Lets new connections wait while there are many.
struct Entrance {
  evconnlistener *Listener;
  int First; ///< descriptor of the first connection
  EventPtr Reopening;
};

} // namespace

static StringRef headerOf(evhttp_request *Request, const char *Name) {
  const char *Found =
      evhttp_find_header(evhttp_request_get_input_headers(Request), Name);
  return Found ? Found : "";
}

static void send(evhttp_request *Request, const HttpReply &Reply) {
  static constexpr std::pair<const char *, const char *> Headers[] = {
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'unsafe-inline'; "
       "style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"}};
  evkeyvalq *To = evhttp_request_get_output_headers(Request);
  for (const auto &[Name, Value] : Headers)
    evhttp_add_header(To, Name, Value);
  evhttp_add_header(To, "Content-Type", Reply.Type.data());
  evbuffer *Body = evhttp_request_get_output_buffer(Request);
  evbuffer_add(Body, Reply.Body.data(), Reply.Body.size());
  evhttp_send_reply(Request, Reply.Code, nullptr, nullptr);
}

static void answer(evhttp_request *Request, void *Argument) {
  auto &To = *static_cast<Served *>(Argument);
  const evhttp_uri *Uri = evhttp_request_get_evhttp_uri(Request);
  auto TextOf = [](const char *Part) { return StringRef(Part ? Part : ""); };
  const StringRef Path = Uri ? TextOf(evhttp_uri_get_path(Uri)) : "";
  const bool IsPost = evhttp_request_get_command(Request) == EVHTTP_REQ_POST;
  const Caller From = {headerOf(Request, "Host"), headerOf(Request, "Origin"),
                       headerOf(Request, "Authorization"),
                       Uri ? TextOf(evhttp_uri_get_query(Uri)) : ""};
  if (const auto Refused = To.Guard.check(From, !IsPost && Path == "/"))
    return send(Request, {Refused->Code, "text/plain; charset=utf-8",
                          Refused->Why.str() + "\n"});
  evbuffer *Given = evhttp_request_get_input_buffer(Request);
  const size_t Size = evbuffer_get_length(Given);
  const auto *Bytes =
      reinterpret_cast<const char *>(evbuffer_pullup(Given, -1));
  HttpAnswer Is = To.Pages.answer(IsPost, Path, StringRef(Bytes, Size));
  if (auto *Slow = std::get_if<SlowReply>(&Is))
    To.Searches.begin(std::move(*Slow), [Request](const HttpReply &Reply) {
      send(Request, Reply);
    });
  else
    send(Request, std::get<HttpReply>(Is));
}

/// Sends the last bytes of an answer at once: for some lengths they would wait
/// 40 ms for the page to acknowledge the others. Connections inherit the option
/// from the listener.
static void sendAtOnce(evutil_socket_t Listener) {
  const int Yes = 1;
  (void)setsockopt(Listener, IPPROTO_TCP, TCP_NODELAY, &Yes, sizeof Yes);
}

/// The lowest that is free, which the next connection will have.
static int nextDescriptor(evutil_socket_t Any) {
  const int Next = dup(Any);
  return Next < 0 ? INT_MAX : (close(Next), Next);
}

static void reopen(evutil_socket_t, short, void *Door) {
  evconnlistener_enable(static_cast<Entrance *>(Door)->Listener);
}

/// Called for each new connection, for which libevent makes the usual buffers.
static bufferevent *enter(event_base *, void *Argument) {
  const auto &Door = *static_cast<Entrance *>(Argument);
  if (nextDescriptor(evconnlistener_get_fd(Door.Listener)) - Door.First >=
      MostConnections) {
    evconnlistener_disable(Door.Listener);
    event_add(Door.Reopening.get(), &Wait);
  }
  return nullptr;
}

static void deliver(evutil_socket_t, short, void *Searches) {
  static_cast<SearchThread *>(Searches)->deliver();
}

static void stop(evutil_socket_t, short, void *Base) {
  event_base_loopbreak(static_cast<event_base *>(Base));
}

static uint16_t portOf(evhttp_bound_socket *Bound) {
  sockaddr_in Address = {};
  socklen_t Size = sizeof Address;
  if (getsockname(evhttp_bound_socket_get_fd(Bound),
                  reinterpret_cast<sockaddr *>(&Address), &Size) != 0)
    return 0;
  return ntohs(Address.sin_port);
}

Error serve(Endpoints &Pages, uint16_t Port,
            function_ref<void(StringRef)> Started) {
  evthread_use_pthreads(); // the thread of searches wakes the base
  const BasePtr Base(event_base_new());
  const HttpPtr Http(Base ? evhttp_new(Base.get()) : nullptr);
  evhttp_bound_socket *Bound =
      Http ? evhttp_bind_socket_with_handle(Http.get(), Loopback, Port)
           : nullptr;
  if (!Bound) {
    const std::error_code EC(errno, std::generic_category());
    return createStringError(EC, "cannot listen on " + Twine(Loopback) + ":" +
                                     Twine(Port) + ": " + EC.message());
  }
  evhttp_set_allowed_methods(Http.get(), EVHTTP_REQ_GET | EVHTTP_REQ_POST);
  evhttp_set_max_headers_size(Http.get(), MostHeaderBytes);
  evhttp_set_max_body_size(Http.get(), MostBodyBytes);
  evhttp_set_timeout(Http.get(), MostSeconds);
  sendAtOnce(evhttp_bound_socket_get_fd(Bound));
  EventPtr Delivery;
  SearchThread Searches([&] { event_active(Delivery.get(), 0, 0); });
  Delivery.reset(event_new(Base.get(), -1, 0, deliver, &Searches));
  Served To = {Pages, Searches, Gate(portOf(Bound))};
  evhttp_set_gencb(Http.get(), answer, &To);
  std::signal(SIGPIPE, SIG_IGN); // a page that is closed while it is served
  const EventPtr Signals[] = {
      EventPtr(evsignal_new(Base.get(), SIGINT, stop, Base.get())),
      EventPtr(evsignal_new(Base.get(), SIGTERM, stop, Base.get()))};
  for (const EventPtr &Signal : Signals)
    event_add(Signal.get(), nullptr);
  Entrance Door = {evhttp_bound_socket_get_listener(Bound), 0, nullptr};
  Door.Reopening.reset(event_new(Base.get(), -1, 0, reopen, &Door));
  Door.First = nextDescriptor(evconnlistener_get_fd(Door.Listener));
  evhttp_set_bevcb(Http.get(), enter, &Door);
  Started("http://" + std::string(Loopback) + ":" +
          std::to_string(portOf(Bound)) + "/?token=" + To.Guard.token().str());
  event_base_dispatch(Base.get());
  return Error::success();
}

} // namespace foretrace::explore
