// Slash commands and buttons: how they are offered, how they come back, and what is answered to them. Pure.

import { commands } from "../../core/route.ts";
import type { Instant } from "../../core/ids.ts";
import type { Body, Inbound, Question } from "../../core/message.ts";
import type { APIInteraction, APIMessage } from "discord-api-types/v10";
import type { SlashCommand } from "./api.ts";
import { type Scene, addressOf } from "./inbound.ts";
import { timeOf } from "./stream/cursor.ts";

const text = 3;

/** The commands of every chat, with room for the words behind them. */
export function slashCommands(): readonly SlashCommand[] {
  return Object.entries(commands).map(([name, description]) => ({
    name,
    description: description.length > 100 ? `${description.slice(0, 99)}…` : description,
    options: [{ type: text, name: "words", description: "what you would write behind the command" }],
  }));
}

/** Discord adds fields of its own to what it was given. */
export function areSame(registered: readonly object[], wanted: readonly SlashCommand[]): boolean {
  const shape = (list: readonly object[]): string =>
    JSON.stringify(
      list
        .map((one) => {
          const { name, description, options } = one as Partial<SlashCommand>;
          return [name, description, (options ?? []).map((option) => [option.type, option.name, option.description])];
        })
        .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
    );
  return shape(registered) === shape(wanted);
}

// Buttons

const rowMax = 5;
const labelMax = 80;
const idMax = 100;

type Button = {
  readonly type: 2;
  readonly style: number;
  readonly label: string;
  readonly custom_id: string;
  readonly disabled?: true;
};
export type Row = { readonly type: 1; readonly components: readonly Button[] };

function buttonId(question: string, index: number): string {
  return `q:${index}:${question}`;
}

/** Null where buttons cannot show it: too many choices, or too long ones. They are written out with numbers then. */
export function buttonsFor({ id, choices }: Question): readonly Row[] | null {
  const fits =
    choices.length > 0 &&
    choices.length <= rowMax * rowMax &&
    choices.every((one) => one.trim() !== "" && one.length <= labelMax) &&
    buttonId(id, choices.length).length <= idMax;
  if (!fits) return null;
  const buttons = choices.map((label, index): Button => ({ type: 2, style: 2, label, custom_id: buttonId(id, index) }));
  const rows = Math.ceil(buttons.length / rowMax);
  return Array.from({ length: rows }, (_, row) => ({
    type: 1,
    components: buttons.slice(row * rowMax, (row + 1) * rowMax),
  }));
}

export function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1}. ${choice}`).join("\n");
}

/** Only what we use of a message's components. */
type Shown = { readonly components?: readonly { readonly custom_id?: string; readonly label?: string }[] };

/** The choice that was pressed, in the words of its own button. */
function pressed(customId: string, message: APIMessage | undefined): Body | null {
  const [, question] = /^q:\d+:(.+)$/s.exec(customId) ?? [];
  if (question === undefined) return null;
  const rows = (message?.components ?? []) as readonly Shown[];
  const button = rows.flatMap((row) => row.components ?? []).find((one) => one.custom_id === customId);
  return button?.label === undefined ? null : { kind: "answer", question, choice: button.label };
}

// In

/** Null for kinds that we do not offer. */
export function toPressedOrCalled(
  interaction: APIInteraction,
  scene: Pick<Scene, "account" | "channel">,
): Inbound | null {
  const person = interaction.member?.user ?? interaction.user;
  const channelId = interaction.channel?.id;
  const body = bodyOf(interaction);
  if (person === undefined || channelId === undefined || body === null) return null;
  const { channel } = scene;
  return {
    key: interaction.id,
    from: addressOf(scene, channelId),
    sender: person.id,
    body,
    sentAt: timeOf(interaction.id) as Instant,
    name: person.username,
    ...(channel === null
      ? {}
      : { group: { called: true, ...(channel.name === "" ? {} : { title: `#${channel.name}` }) } }),
  };
}

function bodyOf(interaction: APIInteraction): Body | null {
  if (interaction.type === 3) return pressed(interaction.data.custom_id, interaction.message);
  if (interaction.type !== 2 || interaction.data.type !== 1) return null;
  const { name, options = [] } = interaction.data;
  const words = options.flatMap((one) => ("value" in one ? [String(one.value)] : []));
  return { kind: "command", name, rest: words.join(" ") };
}

// What is answered, within seconds and after it is stored; the true answer comes as a message.

const ephemeral = 64;

/** `isHeard` is false when whoever did it may not. */
export function receiptOf(interaction: APIInteraction, isHeard: boolean): object {
  if (interaction.type !== 3)
    return { type: 4, data: { content: isHeard ? "On it." : "You may not use this bot here.", flags: ephemeral } };
  if (!isHeard) return { type: 6 };
  const chosen = interaction.data.custom_id;
  const rows = (interaction.message.components ?? []) as unknown as readonly Row[];
  const components = rows.map((row) => ({
    type: 1,
    components: row.components.map(({ label, custom_id }) => ({
      type: 2,
      style: custom_id === chosen ? 3 : 2,
      label,
      custom_id,
      disabled: true,
    })),
  }));
  return { type: 7, data: { components } };
}
