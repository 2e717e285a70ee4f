import type { JsonObject, JsonValue } from '../../../contract/json.ts'
import type { Usage } from '../../../contract/model/usage.ts'
import type { UrlCitation } from '../shared/url-citation.ts'

/** A content part: text with source annotations, or a refusal. */
export type ResponsePart =
  | { type: 'output_text'; text: string; annotations: UrlCitation[]; logprobs: [] }
  | { type: 'refusal'; refusal: string }

/** An output item. */
export type ResponseItem =
  | { type: 'message'; id: string; status: ItemStatus; role: 'assistant'; content: ResponsePart[] }
  | { type: 'reasoning'; id: string; summary: { type: 'summary_text'; text: string }[] }
  | { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: ItemStatus }
  /** An image that the model generated. `result` is base64. */
  | { type: 'image_generation_call'; id: string; status: ItemStatus; result: string }
  /** A pending approval for one of the agent's tools. The API uses this type for server-run tools. */
  | { type: 'mcp_approval_request'; id: string; server_label: string; name: string; arguments: string }

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Token usage in the format of the Responses API. */
export interface ResponseUsage {
  input_tokens: number
  input_tokens_details: { cached_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** Request fields that a response echoes. */
export interface ResponseEcho {
  instructions: JsonValue
  max_output_tokens: JsonValue
  metadata: JsonObject
  parallel_tool_calls: boolean
  previous_response_id: string | null
  reasoning: JsonValue
  temperature: JsonValue
  text: JsonValue
  tool_choice: JsonValue
  tools: JsonValue[]
  top_p: JsonValue
  truncation: 'disabled'
}

/** Echoed fields of a request that sets none of them. */
export const noEcho: ResponseEcho = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
}

/** A response in the format of OpenAI's Responses API. */
export interface ResponseObject extends ResponseEcho {
  id: string
  object: 'response'
  created_at: number
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  error: { code: string; message: string } | null
  incomplete_details: { reason: 'max_output_tokens' | 'content_filter' } | null
  model: string
  output: ResponseItem[]
  store: boolean
  usage: ResponseUsage | null
  conversation?: { id: string }
}

/** Position of an item in the output. */
interface InItem {
  item_id: string
  output_index: number
}

interface InPart extends InItem {
  content_index: number
}

interface InSummary extends InItem {
  summary_index: number
}

/** A stream event without its sequence number. */
export type ResponseEventBody =
  | { type: 'response.created' | 'response.in_progress'; response: ResponseObject }
  | { type: 'response.completed' | 'response.incomplete' | 'response.failed'; response: ResponseObject }
  | { type: 'response.output_item.added' | 'response.output_item.done'; output_index: number; item: ResponseItem }
  | ({ type: 'response.content_part.added' | 'response.content_part.done'; part: ResponsePart } & InPart)
  | ({ type: 'response.output_text.delta'; delta: string; logprobs: [] } & InPart)
  | ({ type: 'response.output_text.annotation.added'; annotation_index: number; annotation: UrlCitation } & InPart)
  | ({ type: 'response.output_text.done'; text: string; logprobs: [] } & InPart)
  | ({ type: 'response.refusal.delta'; delta: string } & InPart)
  | ({ type: 'response.refusal.done'; refusal: string } & InPart)
  | ({ type: 'response.reasoning_summary_part.added'; part: { type: 'summary_text'; text: string } } & InSummary)
  | ({ type: 'response.reasoning_summary_text.delta'; delta: string } & InSummary)
  | ({ type: 'response.reasoning_summary_text.done'; text: string } & InSummary)
  | ({ type: 'response.reasoning_summary_part.done'; part: { type: 'summary_text'; text: string } } & InSummary)
  | ({ type: 'response.function_call_arguments.delta'; delta: string } & InItem)
  | ({ type: 'response.function_call_arguments.done'; arguments: string; name: string } & InItem)

/** An event of a streamed response. */
export type ResponseEvent = ResponseEventBody & { sequence_number: number }

/** Converts usage to the format of the Responses API, in which input tokens include cached tokens. */
export function responseUsage({ input, output, reasoning, cacheRead, cacheWrite }: Usage): ResponseUsage {
  const prompt = input + cacheRead + cacheWrite
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + output,
  }
}
