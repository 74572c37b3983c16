// A client of the Secret Service on the session bus that stays, and takes as little time of its own as it can:
//   secret-service SECONDS FILL FROM
// Makes FILL items, named from FROM, in the default collection, then searches and reads items, and makes more, SECONDS each. Prints, a
// second, items made to fill, searched and read, and made beside the others.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

static const char service[] = "org.freedesktop.secrets";
static const char interface[] = "org.freedesktop.Secret.Service";
static sd_bus *bus;
static const char *session;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int result, const char *step, const sd_bus_error *error) {
  if (result >= 0) return;
  fprintf(stderr, "%s: %s\n", step, error && error->message ? error->message : strerror(-result));
  exit(1);
}

static sd_bus_message *call(sd_bus_message *request, const char *step) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  check(sd_bus_call(bus, request, 0, &error, &reply), step, &error);
  sd_bus_message_unref(request);
  return reply;
}

static sd_bus_message *request(const char *path, const char *interface, const char *member) {
  sd_bus_message *message = NULL;
  check(sd_bus_message_new_method_call(bus, &message, service, path, interface, member), member, NULL);
  return message;
}

static void open_session(void) {
  sd_bus_message *message = request("/org/freedesktop/secrets", interface, "OpenSession");
  check(sd_bus_message_append(message, "sv", "plain", "s", ""), "OpenSession", NULL);
  sd_bus_message *reply = call(message, "OpenSession");
  const char *path;
  check(sd_bus_message_skip(reply, "v"), "OpenSession", NULL);
  check(sd_bus_message_read(reply, "o", &path), "OpenSession", NULL);
  session = strdup(path);
  sd_bus_message_unref(reply);
}

static void create(long number) {
  char name[32];
  snprintf(name, sizeof name, "user-%ld", number);
  sd_bus_message *message =
    request("/org/freedesktop/secrets/aliases/default", "org.freedesktop.Secret.Collection", "CreateItem");
  check(sd_bus_message_append(message, "a{sv}", 2, "org.freedesktop.Secret.Item.Label", "s", name,
    "org.freedesktop.Secret.Item.Attributes", "a{ss}", 2, "xdg:schema", "org.example.Benchmark", "user", name), "CreateItem", NULL);
  check(sd_bus_message_open_container(message, 'r', "oayays"), "CreateItem", NULL);
  check(sd_bus_message_append(message, "o", session), "CreateItem", NULL);
  check(sd_bus_message_append_array(message, 'y', "", 0), "CreateItem", NULL);
  check(sd_bus_message_append_array(message, 'y', "a-secret-of-24-bytes-xxx", 24), "CreateItem", NULL);
  check(sd_bus_message_append(message, "s", "text/plain"), "CreateItem", NULL);
  check(sd_bus_message_close_container(message), "CreateItem", NULL);
  check(sd_bus_message_append(message, "b", 0), "CreateItem", NULL);
  sd_bus_message_unref(call(message, "CreateItem"));
}

static void search_and_read(long number) {
  char name[32];
  snprintf(name, sizeof name, "user-%ld", number);
  sd_bus_message *message = request("/org/freedesktop/secrets", interface, "SearchItems");
  check(sd_bus_message_append(message, "a{ss}", 2, "xdg:schema", "org.example.Benchmark", "user", name), "SearchItems", NULL);
  sd_bus_message *found = call(message, "SearchItems");
  const char *path = NULL;
  check(sd_bus_message_enter_container(found, 'a', "o"), "SearchItems", NULL);
  if (sd_bus_message_read(found, "o", &path) <= 0) {
    fprintf(stderr, "SearchItems: %s is missing\n", name);
    exit(1);
  }
  message = request("/org/freedesktop/secrets", interface, "GetSecrets");
  check(sd_bus_message_append(message, "aoo", 1, path, session), "GetSecrets", NULL);
  sd_bus_message_unref(call(message, "GetSecrets"));
  sd_bus_message_unref(found);
}

static double rate(double seconds, long *count, long limit, void (*work)(long)) {
  double start = now(), time;
  long done = 0;
  do {
    work(work == create ? (*count)++ : (done * 7919) % limit);
    done++;
  } while ((time = now() - start) < seconds);
  return done / time;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: secret-service SECONDS FILL FROM\n");
    return 2;
  }
  double seconds = atof(arguments[1]);
  long fill = atol(arguments[2]), items = atol(arguments[3]);
  check(sd_bus_open_user(&bus), "bus", NULL);
  open_session();
  double start = now();
  for (long index = 0; index < fill; index++) create(items++);
  double filled = fill / (now() - start);
  start = now();
  search_and_read(0);
  double first = now() - start;
  double read = rate(seconds, &items, items, search_and_read);
  printf("%.0f %.3f %.0f %.0f %ld\n", filled, first, read, rate(seconds, &items, items, create), items);
  return 0;
}
