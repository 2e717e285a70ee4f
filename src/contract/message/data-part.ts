import type { JsonValue } from '../json.ts'
import { fits } from '../shape/read.ts'
import { aText, type FieldsOf, json, kind, options } from '../shape/shape.ts'
import { type AgentMessage, type ExtensionMessage, extensionMessage } from './message.ts'

/**
 * Accepts names that are valid in UI protocols, such as `data-weather` in the AI SDK. Names that start with `phi` are reserved for this
 * package.
 */
export const dataName = kind(
  '1 to 64 letters, digits, "_" or "-", that do not begin with phi',
  (value) => typeof value === 'string' && /^(?!phi(?:$|[-_]))[A-Za-z0-9_-]{1,64}$/.test(value),
)

/** Fields of a data part. A part with the same `name` and `dataId` replaces an earlier one. */
export const dataFields = { name: aText, dataId: aText, value: json }

/** A named JSON value for user interfaces. Models never see it. Source: docs/guides/data-for-pages.md */
export interface DataPart extends FieldsOf<typeof dataFields> {}

/** `kind` of the extension messages that store data parts. */
const dataKind = 'data'
const stored = options<DataPart>(dataFields, true)

/** Creates the extension message that stores a part. */
export function dataMessage({ name, dataId, value }: DataPart): ExtensionMessage {
  return extensionMessage(dataKind, { name, dataId, value })
}

/**
 * Kinds of extension messages that the runtime and plugins write for themselves, and kinds that could be mistaken for events of this
 * package.
 */
const reservedKind = /^(?:phi(?:$|[-_.])|plugin\.|approvalPaused$|callsInterrupted$|backgroundReport$)/

/**
 * Returns the data part of a history message, or `undefined` if it has none. An extension message of the application is a part with its
 * `kind` as name and its id.
 */
export function dataPartOf(message: AgentMessage): DataPart | undefined {
  if (message.role !== 'extension') return undefined
  if (!isStoredPart(message)) return applicationPartOf(message)
  const { name, dataId, value } = message.data
  return { name, dataId, value }
}

/** {@link dataPartOf} for messages that no `data` event has announced. */
export function applicationPartOf(message: AgentMessage): DataPart | undefined {
  if (message.role !== 'extension' || isStoredPart(message) || reservedKind.test(message.kind)) return undefined
  return { name: message.kind, dataId: message.id, value: message.data }
}

/** Returns the data parts in a history: the newest per name and id, in order of first appearance. */
export function newestDataIn(messages: readonly AgentMessage[]): DataPart[] {
  const parts = new Map<string, DataPart>()
  for (const message of messages) {
    const part = dataPartOf(message)
    if (part !== undefined) parts.set(`${part.name} ${part.dataId}`, part)
  }
  return [...parts.values()]
}

function isStoredPart(message: ExtensionMessage): message is ExtensionMessage & { data: DataPart & { [key: string]: JsonValue } } {
  return message.kind === dataKind && fits(stored, message.data)
}
