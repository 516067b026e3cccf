"""Which URLs name a host plainly, and which addresses are public."""

from ipaddress import ip_address

import pytest

from kernel.net.addresses import AddressRefused, Target, is_public, target

PUBLIC = ["8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"]
NOT_PUBLIC = [
    *(
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
    ),
    *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.19.0.1"),
    *(
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
    ),
    *("::", "::1", "::7f00:1", "::ffff:7f00:1", "::ffff:8.8.8.8", "fe80::1", "fe80::1%eth0", "fec0::1"),
    *("fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::808:808", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "2606:4700::1%eth0"),
]


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_on_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_what_is_not_on_the_internet_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://api.example.com/v1", Target("api.example.com", 443, None, True)),
        ("HTTP://API.Example.com", Target("api.example.com", 80, None, True)),
        ("http://my_host:8080/", Target("my_host", 8080, None, True)),
        ("http://h/mcp?key=a%20b", Target("h", 80, None, False)),
        ("http://10.0.0.1:1/v1", Target("10.0.0.1", 1, ip_address("10.0.0.1"), True)),
        ("http://[0:0::1]/v1", Target("::1", 80, ip_address("::1"), True)),
        ("http://xn--nxasmq6b/", Target("xn--nxasmq6b", 80, None, True)),
    ],
)
def test_a_plain_url_names_its_host_and_port(url: str, found: Target) -> None:
    assert target(url) == found


@pytest.mark.parametrize(
    "url",
    [
        *("", "h", "//h", "h:80", "http:h", "http:/h", "http://", "http:///p", "http://:80", "http://h:"),
        *("file:///etc/passwd", "gopher://h/", "ftp://h/", "unix:///s", "javascript:1", "data:,x"),
        *("http://a@h/", "http://a:b@h/", "http://@h/", "http://h@127.0.0.1/", "http://h\\@127.0.0.1/"),
        *(
            "http://h\\x/",
            "http:\\\\h/",
            "http://h#f",
            "http://h/#f",
            "http://h?a#f",
            " http://h",
            "http://h ",
        ),
        *(
            "http://h ",
            "http://h/a b",
            "http://h/\n",
            "http://h\n",
            "http://h\0/",
            "http://h\t/",
            "http://h/\u202e",
        ),
        *(
            "http://\u2460\u2461\u2466.0.0.1/",
            "http://127\u30020\u30020\u30021/",
            "http://h\u00e9/",
            "http://%31/",
        ),
        *(
            "http://h:0/",
            "http://h:080/",
            "http://h:65536/",
            "http://h:99999/",
            "http://h:-1/",
            "http://h:x/",
        ),
        *("http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://0x7f000001/", "http://0x/"),
        *(
            "http://0177.0.0.1/",
            "http://127.0.0.01/",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
            "http://a.1/",
        ),
        *("http://127.0.0.1./", "http://h./", "http://.h/", "http://a..b/", "http://-h/", "http://h-/"),
        *("http://[::1/", "http://::1/", "http://[127.0.0.1]x/", "http://[fe80::1%25eth0]/", "http://[]/"),
        "http://" + "a" * 64 + "/",
        "http://h/" + "a" * 2_048,
    ],
)
def test_what_is_not_plain_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(AddressRefused) as caught:
        target(url)
    assert caught.value.message
    assert len(url) < 8 or url not in caught.value.message
