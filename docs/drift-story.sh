#!/usr/bin/env bash
# A saved question, its tree changed in eight ways, and what rtch drift says: bash docs/drift-story.sh [FOLDER]
# Nothing outside the folder is touched. RTCH_ENGINE=prefect runs each investigation as a Prefect flow, to be seen in the UI.
set -uo pipefail
here=$(realpath "${1:-$(mktemp -d)}")
export RTCH_HOME="$here/home" RTCH_ENGINE="${RTCH_ENGINE:-direct}"
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
mkdir -p "$here/shop/billing" "$here/shop/docs" && cd "$here/shop" || exit 1

run() { # show a command, run it, and show how it ended
    printf '\n$ %s\n' "$*"
    "$@"
    code=$?
    [ "$code" -eq 0 ] || echo "(exit $code)"
}

# A shop with seven small files and a document.
cat > billing/ledger.py <<'END'
"""The ledger has every payment once."""


class Ledger:
    """The booked payments, by their ids."""

    def __init__(self):
        self.payments = {}

    def book_payment(self, payment):
        """Book a payment; the same payment is not booked twice."""
        if payment.id in self.payments:
            raise ValueError("the payment is booked already")
        self.payments[payment.id] = payment
        return payment
END
cat > billing/settling.py <<'END'
"""Settling: what a day's booked payments come to."""


def settle_payments(ledger, day):
    """Return the sum of the payments that were booked on a day."""
    total = 0
    for payment in ledger.payments.values():
        if payment.day == day:
            total += payment.amount
    return total
END
cat > billing/report.py <<'END'
"""What the accountant reads."""

from billing.settling import settle_payments


def daily_report(ledger, day):
    """Say in a line what the payments of a day were settled to."""
    return f"{day}: {settle_payments(ledger, day)} settled"
END
cat > billing/payment.py <<'END'
"""Payments as they come in."""


class Payment:
    """One payment of a customer, not yet booked."""

    def __init__(self, id, day, amount):
        self.id, self.day, self.amount = id, day, amount


def parse_payment(line):
    """Read a payment from a line of the bank's file, to be booked."""
    id, day, amount = line.split(";")
    return Payment(id, day, int(amount))
END
cat > billing/refund.py <<'END'
"""A refund is a payment with its sign turned, booked like any other."""

from billing.payment import Payment


def refund_payment(payment):
    """Return the payment that takes a booked payment back."""
    return Payment(f"refund of {payment.id}", payment.day, -payment.amount)
END
cat > billing/counter.py <<'END'
"""Payments at the counter are booked and settled at once."""


def pay_at_counter(ledger, payment, counter):
    """Book a payment at a counter and settle the counter's day with it."""
    ledger.book_payment(payment)
    counter.paid_so_far += payment.amount
    counter.last_payment = payment.id
    return counter.settle_payments(payment.day, counter.paid_so_far)
END
cat > billing/invoice.py <<'END'
"""Invoices ask for payments."""


def open_invoice(customer, amount):
    """Ask a customer for a payment, which is booked when it comes in."""
    return {"customer": customer, "amount": amount, "payment": None}
END
cat > docs/billing.md <<'END'
# Billing

A payment is read by `billing/payment.py` and booked by [the ledger](../billing/ledger.py).
How a booked payment is taken back is in [refunds](../billing/refund.py).
END
git init -q . && git add -A && git commit -qm "The shop"

echo "== Save a question, and run it"
run rtch intake new --save payments --preset locate-code --seed book_payment --seed settle_payments \
    --goal "Where is a payment booked, and how are the payments of a day settled?" --enough "at least 9 surfaces"
run rtch drift payments

echo && echo "== Change the tree in eight ways"
set -x
sed -i 's/self.payments\[payment.id\] = payment/self.payments[payment.id, payment.day] = payment/' billing/ledger.py # 1 edit
sed -i '1i # Read by the accountant every morning.\n' billing/report.py                     # 2 move within its file
{ echo '"""Days."""'; echo; cat billing/settling.py; } > billing/days.py                     # 3 move to another file
echo 'from billing.days import settle_payments' > billing/settling.py
git mv billing/payment.py billing/incoming.py                                                # 4 rename
git rm -q billing/refund.py                                                                  # 5 delete
{ echo '# from billing'; cat billing/counter.py; } > docs/counter_example.py                 # 6 duplicate
sed -i '4i # Deprecated: use billing.orders instead.' billing/invoice.py                     # 7 deprecate
cat > billing/booking.py <<'END'
"""Where a payment is booked, and how the payments of a day are settled."""


def book_payment(ledger, payment):
    """Book a payment of the day."""
    return ledger.book_payment(payment)


def settle_payments(ledger, day):
    """Settle the booked payments of a day."""
    return ledger.settle_payments(day)
END
git add -A && git commit -qm "Eight changes"                                                 # 8 a better surface
{ set +x; } 2> /dev/null

echo && echo "== What has drifted"
run rtch drift payments

echo && echo "== Accept one, suppress what is on its way, and look again"
edited=$(rtch drift payments --format json | python3 -c '
import json, sys
(one,) = json.load(sys.stdin)["investigations"]
print(next(found["finding_id"] for found in one["findings"] if found["kind"] == "edited" and "ledger" in found["at"]["path"]))')
run rtch drift payments --accept "payments are numbered anew each day" --only "$edited"
run rtch drift payments --suppress "the documents follow on Friday" --until "$(date -u -d '+7 days' +%F)" --paths 'docs/**'

echo && echo "== Accept the rest: the answer of now is the baseline"
run rtch drift payments --accept "billing was put in order"
run rtch drift payments
run rtch drift payments --history
