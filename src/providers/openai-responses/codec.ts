import { withoutSecret } from '../../base/text/redact.ts'
import { settingFields } from '../../contract/model/request-settings.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { OptionTable } from '../../contract/shape/shape.ts'
import type { Codec, DecoderContext, Recovery } from '../kit/codec.ts'
import { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { readErrorFacts } from '../kit/errors/error-facts.ts'
import { mediaRules } from '../kit/history/target.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { ResponsesDecoder } from './decode/responses-decoder.ts'
import { type EncodingOptions, type ReasoningSummary, type ResponsesCall, requestEncoder } from './encode-request.ts'
import { responsesProfile } from './profile.ts'

/** Options for a Responses provider, for OpenAI and Azure. */
export interface OpenAiResponsesProviderOptions extends TransportOptions {
  /** Level of detail of reasoning summaries. Default: `auto`. Use `none` if your organization cannot request summaries. */
  reasoningSummary?: ReasoningSummary
  /** Provider-executed tools from `openaiTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Option table of {@link OpenAiResponsesProviderOptions}. */
export const responsesTable: OptionTable<OpenAiResponsesProviderOptions> = {
  ...transportTable,
  reasoningSummary: settingFields.thinkingSummary,
  serverTools: aServerToolList,
}

/**
 * Creates the codec of the Responses API.
 *
 * **Contract**
 * - If the content filter rejects a prompt, the response has stop reason `guardRail` and the filter's message.
 * - Drops reasoning that the provider cannot decrypt (`invalid_encrypted_content`: another key or organization) and output of an expired
 *   container. Then calls the model once more if there was no output. This does not count as a retry.
 */
export function responsesCodec(options: EncodingOptions): Codec<ResponsesCall> {
  const encode = requestEncoder(options)
  return {
    encode: (request) => encode(request),
    decoder: (call, context) => new ResponsesDecoder(call, context),
    media: (model) => mediaRules(responsesProfile(model)),
    says: [],
    guards: ['instructions', 'tools', 'tool_choice', 'previous_response_id', 'conversation', 'store', 'prompt'],
    recover: (body, call, context) => {
      const { request, secrets } = context
      const { names, text } = readErrorFacts(body, undefined)
      if (/\bcontent_filter\b/.test(names)) return filtered(withoutSecret(text, secrets), call, context)
      if (call.hasReasoning && /\binvalid_encrypted_content\b/.test(names)) return { kind: 'repeat', call: encode(request, 'bare') }
      if (call.hasContainers && /\bExpected container_id\b/i.test(text))
        return { kind: 'repeat', call: encode(request, 'withoutContainers') }
      return undefined
    },
  }
}

function filtered(text: string, call: ResponsesCall, { request, emit }: DecoderContext): Recovery<ResponsesCall> {
  const builder = new AssistantBuilder(request.model, emit, call.answerTool)
  builder.warnings = call.warnings
  builder.text(0, text)
  return { kind: 'answer', message: builder.finish('guardRail', emptyUsage()) }
}
