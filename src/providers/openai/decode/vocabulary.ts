import type { StopReason } from '../../../contract/message/message.ts'
import { reasoningNames } from '../thinking-fields.ts'

/** Known fields: read, or ignored because they only describe the response. */
export const known = {
  chunk: new Set([
    ...['id', 'model', 'object', 'created', 'choices', 'usage', 'error', 'service_tier', 'system_fingerprint', 'obfuscation', 'x_groq'],
    ...['base_resp', 'citations', 'search_results', 'provider', 'timings', 'time_info', 'prompt_filter_results', 'request_id', 'nvext'],
    ...['prompt_token_ids', 'prompt_logprobs', 'metadata', 'type', 'status', 'kv_transfer_params', 'stats', 'p', 'runtime'],
  ]),
  choice: new Set([
    ...['index', 'delta', 'message', 'error', 'finish_reason', 'usage', 'logprobs', 'native_finish_reason', 'stop_reason', 'matched_stop'],
    ...['content_filter_results', 'content_filter_offsets', 'content_filter_result', 'token_ids', 'seed'],
  ]),
  delta: new Set([
    ...['role', 'content', 'refusal', 'tool_calls', 'type', ...reasoningNames],
    ...['function_call', 'images', 'audio', 'annotations', 'executed_tools', 'name', 'token_ids', 'channel'],
  ]),
}

/** A call's known fields. Requests must send all other fields back, such as Gemini's `extra_content`. */
export const knownOfCalls = new Set(['index', 'id', 'type', 'function', 'name', 'arguments'])

const reasons = new Map<string, StopReason>([
  ['stop', 'stop'],
  ['end', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'toolUse'],
  ['function_call', 'toolUse'],
  ['content_filter', 'guardRail'],
])

/** Returns whether a `finish_reason` reports a failure of the provider, so that a retry may succeed. */
export function isFailure(finishReason: string): boolean {
  return finishReason === 'error' || finishReason === 'network_error' || finishReason === 'insufficient_system_resource'
}

/** Maps a `finish_reason` to a stop reason. Unknown reasons become `error`. */
export function stopReasonOf(finishReason: string): StopReason {
  return reasons.get(finishReason) ?? 'error'
}
