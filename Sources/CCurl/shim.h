// libcurl for calls of gRPC: its options are variadic, which Swift cannot call.
#pragma once
#include <curl/curl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/// Bytes that an answer brings, up to a limit.
struct coffer_curl_buffer {
  unsigned char *bytes;
  size_t count;
  size_t capacity;
  size_t limit;
};

/// A callback of libcurl. Fewer bytes than there are end the transfer.
static size_t coffer_curl_append(char *data, size_t size, size_t number, void *target) {
  struct coffer_curl_buffer *buffer = (struct coffer_curl_buffer *)target;
  size_t more = size * number;
  if (more > buffer->limit - buffer->count) return 0;
  if (more > buffer->capacity - buffer->count) {
    size_t capacity = 2 * buffer->capacity + more;
    unsigned char *bytes = (unsigned char *)realloc(buffer->bytes, capacity);
    if (!bytes) return 0;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
  }
  memcpy(buffer->bytes + buffer->count, data, more);
  buffer->count += more;
  return more;
}

/// A callback of libcurl: a program that this process becomes, or starts, does not get the connection.
static int coffer_curl_keep(void *target, curl_socket_t socket, curlsocktype purpose) {
  (void)target, (void)purpose;
  return fcntl(socket, F_SETFD, FD_CLOEXEC) ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

/// A handle for many calls, whose connection it keeps. Over TLS of 1.2 and later with a client certificate, and through no proxy.
static inline CURL *coffer_curl_make(
    const char *authority, const char *certificate, const char *key, long connect_milliseconds, long call_milliseconds) {
  CURL *handle = curl_easy_init();
  if (!handle) return NULL;
  CURLcode failed = CURLE_OK;
#define COFFER_SET(option, value) if (!failed) failed = curl_easy_setopt(handle, option, value)
  COFFER_SET(CURLOPT_NOSIGNAL, 1L);
  COFFER_SET(CURLOPT_PROTOCOLS_STR, "https");
  COFFER_SET(CURLOPT_PROXY, "");
  COFFER_SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  COFFER_SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  COFFER_SET(CURLOPT_SSL_VERIFYPEER, 1L);
  COFFER_SET(CURLOPT_SSL_VERIFYHOST, 2L);
  COFFER_SET(CURLOPT_CAINFO, authority);
  // Not the authorities of the system.
  COFFER_SET(CURLOPT_CAPATH, (char *)NULL);
  COFFER_SET(CURLOPT_SSLCERT, certificate);
  COFFER_SET(CURLOPT_SSLKEY, key);
  // Otherwise OpenSSL asks at the terminal for that of an encrypted key.
  COFFER_SET(CURLOPT_KEYPASSWD, "");
  COFFER_SET(CURLOPT_SOCKOPTFUNCTION, coffer_curl_keep);
  COFFER_SET(CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds);
  COFFER_SET(CURLOPT_TIMEOUT_MS, call_milliseconds);
  COFFER_SET(CURLOPT_WRITEFUNCTION, coffer_curl_append);
  COFFER_SET(CURLOPT_HEADERFUNCTION, coffer_curl_append);
#undef COFFER_SET
  if (!failed) return handle;
  curl_easy_cleanup(handle);
  return NULL;
}

/// One call. The trailers of the answer are among its headers.
/// `message` has room for CURL_ERROR_SIZE bytes.
static inline CURLcode coffer_curl_call(
    CURL *handle, const char *url, long connect_milliseconds, const unsigned char *request, size_t count,
    struct coffer_curl_buffer *headers, struct coffer_curl_buffer *body, char *message) {
  struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/grpc");
  struct curl_slist *longer = list ? curl_slist_append(list, "TE: trailers") : NULL;
  CURLcode code = longer ? CURLE_OK : CURLE_OUT_OF_MEMORY;
#define COFFER_SET(option, value) if (!code) code = curl_easy_setopt(handle, option, value)
  COFFER_SET(CURLOPT_URL, url);
  COFFER_SET(CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds);
  COFFER_SET(CURLOPT_HTTPHEADER, list);
  COFFER_SET(CURLOPT_POST, 1L);
  COFFER_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  COFFER_SET(CURLOPT_POSTFIELDS, request);
  COFFER_SET(CURLOPT_HEADERDATA, headers);
  COFFER_SET(CURLOPT_WRITEDATA, body);
  COFFER_SET(CURLOPT_ERRORBUFFER, message);
#undef COFFER_SET
  message[0] = 0;
  if (!code) code = curl_easy_perform(handle);
  // These end with the call.
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, (char *)NULL);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, (struct curl_slist *)NULL);
  curl_slist_free_all(list);
  return code;
}

/// Whether the last call made a connection.
static inline int coffer_curl_has_connected(CURL *handle) {
  long count = 0;
  return !curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count) && count > 0;
}

/// Whether the last call had a connection, with TLS, on which its request could be sent.
static inline int coffer_curl_is_connected(CURL *handle) {
  curl_off_t time = 0;
  return !curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &time) && time > 0;
}

/// The error of the system with which the last call could not connect, or 0.
static inline int coffer_curl_errno(CURL *handle) {
  long number = 0;
  return curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number) ? 0 : (int)number;
}

/// A call whose answer comes in parts, without an end.
struct coffer_curl_stream {
  CURLM *multi;
  CURL *handle;
  struct curl_slist *headers;
};

/// A callback of libcurl: gets `size * number` bytes, and returns as many, or fewer to end the call.
typedef size_t (*coffer_curl_take)(char *data, size_t size, size_t number, void *target);

static inline void coffer_curl_close(struct coffer_curl_stream *stream) {
  if (stream->multi) curl_multi_remove_handle(stream->multi, stream->handle);
  curl_easy_cleanup(stream->handle);
  curl_multi_cleanup(stream->multi);
  curl_slist_free_all(stream->headers);
}

/// Takes the handle over, which may be NULL. What `request` points to has to stay until the end.
/// - Returns: 0 if the call cannot begin. Then, too, `coffer_curl_close` has to follow.
static inline int coffer_curl_open(
    struct coffer_curl_stream *stream, CURL *handle, const char *url, const unsigned char *request, size_t count,
    coffer_curl_take take, void *target) {
  *stream = (struct coffer_curl_stream){.handle = handle};
  if (!handle || !(stream->multi = curl_multi_init())) return 0;
  // A member that has no leader ends the call, instead of telling nothing.
  const char *lines[] = {"Content-Type: application/grpc", "TE: trailers", "hasleader: true"};
  for (int i = 0; i < 3; i++) {
    struct curl_slist *longer = curl_slist_append(stream->headers, lines[i]);
    if (!longer) return 0;
    stream->headers = longer;
  }
  CURLcode failed = CURLE_OK;
#define COFFER_SET(option, value) if (!failed) failed = curl_easy_setopt(handle, option, value)
  COFFER_SET(CURLOPT_URL, url);
  COFFER_SET(CURLOPT_HTTPHEADER, stream->headers);
  COFFER_SET(CURLOPT_POST, 1L);
  COFFER_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  COFFER_SET(CURLOPT_POSTFIELDS, request);
  COFFER_SET(CURLOPT_HEADERFUNCTION, (curl_write_callback)NULL);
  COFFER_SET(CURLOPT_WRITEFUNCTION, take);
  COFFER_SET(CURLOPT_WRITEDATA, target);
  // In seconds: a machine that is gone ends the call within two minutes.
  COFFER_SET(CURLOPT_TCP_KEEPALIVE, 1L);
  COFFER_SET(CURLOPT_TCP_KEEPIDLE, 30L);
  COFFER_SET(CURLOPT_TCP_KEEPINTVL, 10L);
  // The end does not wait for the answer to a name.
  COFFER_SET(CURLOPT_QUICK_EXIT, 1L);
#undef COFFER_SET
  return !failed && !curl_multi_add_handle(stream->multi, handle);
}

/// Does what is due, then waits for more, for so many milliseconds at most, or until the descriptor is readable.
/// - Returns: 0 if the call has ended, or the descriptor is readable.
static inline int coffer_curl_turn(struct coffer_curl_stream *stream, int descriptor, int milliseconds) {
  int running = 0;
  if (curl_multi_perform(stream->multi, &running) || !running) return 0;
  struct curl_waitfd other = {.fd = descriptor, .events = CURL_WAIT_POLLIN};
  return !curl_multi_poll(stream->multi, &other, 1, milliseconds, NULL) && !other.revents;
}
