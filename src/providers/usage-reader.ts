import type { KnownApi } from '../contract/model/model-config.ts'
import { emptyUsage, type Usage } from '../contract/model/usage.ts'
import { addUsage as addMessagesUsage, type WireEvent as MessagesEvent } from './anthropic/wire.ts'
import { addUsage as addConverseUsage, type WireEvent as ConverseEvent } from './bedrock/decode/wire.ts'
import { type GeminiChunk, TokenCounts } from './google/wire.ts'
import { objectOf } from './kit/decode/wire-value.ts'
import { type ChatChunk, type ChatUsage, usageOf as chatUsageOf, laterReport, reportIn } from './openai/decode/wire.ts'
import { usageOf as responseUsageOf, type WireResponse } from './openai-responses/decode/wire.ts'

/**
 * Accumulates usage. Accepts a response's events one by one, or the whole response, as parsed JSON, and returns the usage so far. Never
 * throws.
 */
export type UsageReader = (event: unknown) => Usage

/** Creates a reader that counts usage like the protocol's decoder, for proxies that forward responses without decoding them. */
export function usageReader(api: KnownApi): UsageReader {
  switch (api) {
    case 'anthropicMessages':
      return adding((usage, event) => {
        const { message, usage: report } = objectOf<MessagesEvent>(event)
        addMessagesUsage(usage, message?.usage ?? report)
      })
    case 'bedrockConverseStream':
      return adding((usage, event) => addConverseUsage(usage, objectOf<ConverseEvent>(event).usage))
    case 'googleGenerativeAi':
    case 'googleVertex': {
      const counts = new TokenCounts()
      return (event) => {
        counts.add(objectOf(objectOf<GeminiChunk>(event).usageMetadata))
        return counts.usage
      }
    }
    case 'openAiCompletions': {
      let report: ChatUsage | undefined
      return latest((event) => {
        const chunk = objectOf<ChatChunk>(event)
        report = laterReport(report, objectOf<ChatUsage>(reportIn(chunk) ?? chunk.choices?.[0]?.usage))
        // Overestimate rather than underestimate, because the backend is unknown.
        return chatUsageOf(report, true)
      })
    }
    case 'openAiResponses':
    case 'azureOpenAiResponses':
      return latest((event) => {
        const { response } = objectOf<{ response?: unknown }>(event)
        return responseUsageOf(objectOf<WireResponse>(response ?? event))
      })
  }
}

/** Applies reports to one object. */
function adding(add: (usage: Usage, event: unknown) => void): UsageReader {
  const usage = emptyUsage()
  return (event) => {
    add(usage, event)
    return usage
  }
}

/** Uses the latest report and ignores empty reports. */
function latest(usageOf: (event: unknown) => Usage | undefined): UsageReader {
  let usage = emptyUsage()
  return (event) => {
    const report = usageOf(event)
    if (report !== undefined && report.totalTokens > 0) usage = report
    return usage
  }
}
