#include "weft/tools/pjrt/transfers/Tickets.h"

#include <memory>
#include <utility>

using Callback = std::function<void(const std::string &)>;

static thread_local bool isEnding = false;

static void ready(void *user, const weft_error *error) {
  std::unique_ptr<Callback> callback(static_cast<Callback *>(user));
  bool wasEnding = std::exchange(isEnding, true);
  (*callback)(error ? weft_error_message(error) : "");
  isEnding = wasEnding;
}

std::string weft::pjrt::takeMessage(weft_error *error) {
  std::string text = error ? weft_error_message(error) : "";
  weft_error_free(error);
  return text;
}

void weft::pjrt::whenDone(weft_ticket *ticket, Callback callback) {
  auto user = std::make_unique<Callback>(std::move(callback));
  std::string why =
      takeMessage(weft_ticket_on_ready(ticket, ready, user.get()));
  weft_ticket_free(ticket);
  if (why.empty())
    user.release(); // ready() owns it now
  else
    (*user)(why);
}

bool weft::pjrt::isRunEnding() { return isEnding; }
