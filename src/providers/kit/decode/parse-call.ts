import { argumentsFault, parseArguments } from '../../../base/json/call-arguments.ts'
import { ProviderError } from '../../../contract/errors.ts'
import { newId } from '../../../contract/message/identity.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { StreamEvent } from '../../../types/model/provider.ts'
import type { IgnoredSlot, Slot, ToolCallSlot } from './slots.ts'

/** Maximum characters of one call. */
export const maxArguments = 16 * 1024 * 1024

/** Creates the error for longer arguments. It is not retryable, because the model would probably produce the same length again. */
export function tooLongArguments(): ProviderError {
  return new ProviderError(
    'api',
    `The arguments of a tool call exceed ${maxArguments} characters. Change the tool to accept them in parts.`,
  )
}

/** Emits the buffered arguments of `slot` once the call's id and name are known. */
export function release(slot: ToolCallSlot, emit: (event: StreamEvent) => void): void {
  const { id, name } = slot.block
  if (id === '' || name === '') return
  const delta = slot.held
  slot.held = ''
  emit({ type: 'toolCallDelta', contentIndex: slot.index, toolCallId: id, toolName: name, delta })
}

/** Matches ids that every protocol accepts. For any other id, the call records the protocol that issued it. */
const plainId = /^[\w-]{1,40}$/

/**
 * Ends a response's calls when no more fragments can arrive. Assigns missing ids, emits buffered text, and parses the arguments. Starting
 * with block `cutFrom`, a call without argument text may have been truncated.
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
    // Argument text without a call may belong to another call.
    const isCut = slot.isCut === true || hasStray
    if (isCut) slot.block.isCut = true
    if (isCut || parsed.fault !== undefined) slot.block.invalidArguments = raw
    else slot.block.arguments = parsed.arguments
  }
}

/**
 * Returns arguments as text, because some providers send parsed values. Returns an empty string if there are no arguments. A value that
 * JSON would change (`1e400`, `-0`) or cannot represent becomes invalid text, so the call does not run.
 */
export function textOfArguments(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  const fault = argumentsFault(value)
  return fault === undefined ? JSON.stringify(value) : `(${fault})`
}
