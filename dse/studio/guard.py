"""Who may speak with the server: a page that it made itself, in a browser on this machine, that knows the token.

Other pages in the same browser can send requests here too. So each request is looked at: its ``Host`` is a name of the
loopback interface with our port (a page of another name that resolves to it is refused: DNS rebinding), its ``Origin``
is our own where it has one (cross-site requests), and for all but the empty page it carries the token, which is in no
cookie that a browser would add by itself. The token stands behind ``#`` in the address: browsers do not send that.
"""

import hmac
import secrets

TOKEN_BYTES = 32
PROTOCOL = "dse-studio"
"""The subprotocol of the socket; the token is the other one that a page offers."""
_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


def new_token() -> str:
    """Return a token that nobody can guess, of letters and digits."""
    return secrets.token_hex(TOKEN_BYTES)


def hosts_of(port: int) -> tuple[str, ...]:
    """Return the values of ``Host`` that stand for this server."""
    return tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))


def refusal(host: str | None, origin: str | None, site: str | None, port: int) -> str | None:
    """Return in words why a request is refused that has these headers, None where it is not.

    ``site``: ``Sec-Fetch-Site``, with which browsers say where a request comes from.
    """
    hosts = hosts_of(port)
    if host is None or host.lower() not in hosts:
        return "this server has another name: open the address that dse studio printed"
    if origin is not None and origin.lower() not in {f"http://{name}" for name in hosts}:
        return "requests of other pages are refused"
    if site is not None and site not in ("same-origin", "none"):
        return "requests of other pages are refused"
    return None


def knows_token(offered: str | None, token: str) -> bool:
    """Return whether what a request offers is the token."""
    return offered is not None and hmac.compare_digest(offered.encode(), token.encode())


def headers_of(port: int) -> tuple[tuple[str, str], ...]:
    """Return the headers of every answer: nothing from elsewhere runs in the page, and nothing may frame it."""
    sockets = " ".join(f"ws://{host}" for host in hosts_of(port) if "[" not in host)  # no policy can name that one
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return (("Content-Security-Policy", policy), *_HEADERS)
