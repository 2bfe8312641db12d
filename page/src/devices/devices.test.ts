import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetched, Posted } from "../net/client.ts";
import { type Device, deviceList, readDevices } from "./devices.ts";

const phone: Device = { id: "d1", name: "Chrome on Android", seenAt: 5, isCurrent: false };

test("whatever the gateway lists becomes devices or nothing", () => {
  assert.deepEqual(readDevices({ devices: [{ ...phone, createdAt: 1 }] }), [phone]);
  assert.deepEqual(readDevices({ devices: [null, 1, {}, { ...phone, id: 7 }, { ...phone, isCurrent: "yes" }] }), [
    phone,
  ]);
  for (const wrong of [null, 1, [], {}, { devices: {} }]) assert.equal(readDevices(wrong), null);
});

test("devices are asked for while their list is open; a press signs one out, and trouble is shown", async () => {
  let listed: Fetched<readonly Device[]> = { type: "got", value: [phone] };
  let answer: Posted = { type: "later", afterMs: null };
  let denials = 0;
  const revoked: string[] = [];
  const list = deviceList(
    {
      devices: async () => listed,
      async revokeDevice(id) {
        revoked.push(id);
        return answer;
      },
    },
    () => denials++,
  );
  await list.look();
  assert.equal(list.all.value, null, "the list is closed");
  list.isOpen.value = true;
  await list.look();
  assert.deepEqual(list.all.value, [phone]);
  await list.revoke("d1");
  assert.match(list.trouble.value, /did not answer/);
  answer = { type: "refused", reason: "There is no device d1." };
  await list.revoke("d1");
  assert.equal(list.trouble.value, "There is no device d1.");
  answer = { type: "stored" };
  listed = { type: "got", value: [] };
  await list.revoke("d1");
  assert.deepEqual([list.all.value, list.trouble.value, revoked.length], [[], "", 3]);
  answer = { type: "denied" };
  await list.revoke("d1");
  listed = { type: "denied" };
  await list.look();
  assert.equal(denials, 2);
});
