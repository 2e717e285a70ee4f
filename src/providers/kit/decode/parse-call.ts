import { argumentsFault, parseArguments } from '../../../base/json/call-arguments.ts'
import { ProviderError } from '../../../contract/errors.ts'
import { newId } from '../../../contract/message/identity.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { StreamEvent } from '../../../types/model/provider.ts'
import type { IgnoredSlot, Slot, ToolCallSlot } from './slots.ts'

/** Characters of one call. */
export const maxArguments = 16 * 1024 * 1024

/** The error for arguments that grew longer. Not retryable: a model that writes on and on would do so again. */
export function tooLongArguments(): ProviderError {
  return new ProviderError('api', `The arguments of a call grew beyond ${maxArguments} characters. Let the tool take them in parts.`)
}

/** Emits the argument text of `slot` that was held back, if the id and the name of the call are known. */
export function release(slot: ToolCallSlot, emit: (event: StreamEvent) => void): void {
  const { id, name } = slot.block
  if (id === '' || name === '') return
  const delta = slot.held
  slot.held = ''
  emit({ type: 'toolCallDelta', contentIndex: slot.index, toolCallId: id, toolName: name, delta })
}

/** What every protocol takes as an id. Another one goes back through the protocol that it came by, so the call says which that was. */
const plainId = /^[\w-]{1,40}$/

/**
 * Ends the calls among the blocks of one response, which get no more fragments: each has an id from now on, its held text is emitted, and its arguments are
 * read. From block `cutFrom` on, a call without any text may have been cut.
 */
export function endCalls(
  slots: Iterable<Slot | IgnoredSlot>,
  cutFrom: number,
  { api, id: model }: ModelConfig,
  emit: (event: StreamEvent) => void,
): void {
  const calls: ToolCallSlot[] = []
  let hasStray = false
  for (const slot of slots) {
    if (slot.kind !== 'toolCall') continue
    calls.push(slot)
    if (slot.block.id === '') slot.block.id = newId()
    if (slot.held !== '') release(slot, emit)
    if (slot.block.name === '' && slot.raw.trim() !== '') hasStray = true
  }
  for (const slot of calls) {
    if (!plainId.test(slot.block.id)) slot.block.providerState ??= { api, model, payload: {} }
    const raw = slot.whole ?? slot.raw
    const parsed = parseArguments(raw.trim() === '' && slot.index < cutFrom ? '{}' : raw)
    // Text without a call may be what another one lacks.
    const isCut = slot.isCut === true || hasStray
    if (isCut) slot.block.isCut = true
    if (isCut || parsed.fault !== undefined) slot.block.invalidArguments = raw
    else slot.block.arguments = parsed.arguments
  }
}

/**
 * Arguments off the wire as text: services also send the value itself, or a piece of it. Empty for nothing. What JSON would write as something
 * else (`1e400`, `-0`), or not at all, becomes text that is none: no call runs with it.
 */
export function textOfArguments(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  const fault = argumentsFault(value)
  return fault === undefined ? JSON.stringify(value) : `(${fault})`
}
