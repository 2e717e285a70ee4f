import type { StopReason } from '../../types/message.ts'

const reasons: { readonly [reason: string]: StopReason } = {
  stop: 'stop',
  end: 'stop',
  eos: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'toolUse',
  function_call: 'toolUse',
  content_filter: 'guardRail',
}

/** Whether a `finish_reason` reports that the service failed, so that the same call may succeed later. */
export function isFailure(finishReason: string): boolean {
  return finishReason === 'error' || finishReason === 'network_error' || finishReason === 'insufficient_system_resource'
}

/** The stop reason of a `finish_reason`; `error` for unknown ones. Source: reference/providers.md §0. */
export function stopReasonOf(finishReason: string): StopReason {
  return Object.hasOwn(reasons, finishReason) ? (reasons[finishReason] ?? 'error') : 'error'
}
