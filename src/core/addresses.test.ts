import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isPublic } from "./addresses.ts";

describe("addresses", () => {
  const everybodys = [
    ..."1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.0.0.1 128.0.0.1 169.253.0.1".split(" "),
    ..."172.15.0.1 172.32.0.1 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255".split(" "),
    ..."2606:4700:4700::1111 2a00:1450::1 [2a00:1450::1] 2001:4860:4860::8888 3ffe::1".split(" "),
    ..."::ffff:8.8.8.8 ::ffff:808:808 64:ff9b::8.8.8.8 0:0:0:0:0:ffff:0808:0808".split(" "),
  ];
  for (const address of everybodys) test(`${address} is everybody's`, () => assert.equal(isPublic(address), true));

  const private_ = [
    ..."0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255".split(" "),
    ..."169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1 198.18.0.1 198.19.255.255".split(" "),
    ..."198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 192.88.99.1".split(" "),
    ..."::1 :: [::1] fe80::1 fe80::1%eth0 2606:4700::1%eth0 ::ffff:8.8.8.8%eth0 fc00::1 fd00:ec2::254 ff02::1 100::1 2001:db8::1 2001::1 2002:7f00:1::".split(
      " ",
    ),
    ..."::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::127.0.0.1 ::127.0.0.1".split(
      " ",
    ),
    ..."::ffff:0:0 ::ffff:0.0.0.0 0:0:0:0:0:ffff:7f00:0001 64:ff9b::a00:1 64:ff9b:1::1 3fff::1 5f00::1".split(" "),
    ..."localhost 127.1 2130706433 0x7f000001".split(" "),
    "",
  ];
  for (const address of private_) test(`${address} is somebody's own`, () => assert.equal(isPublic(address), false));
});
