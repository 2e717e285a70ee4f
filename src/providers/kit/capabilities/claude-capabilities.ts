import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import { type CapabilityRow, picturesAndPdf, plain } from './capabilities.ts'

/** Provider limits for uploaded files. */
const keptFiles = [...picturesAndPdf, 'text/plain']

const upToHigh = ['low', 'medium', 'high']
const upToMax = ['low', 'medium', 'high', 'xhigh', 'max']

// Output limits: platform.claude.com/docs/en/about-claude/models/overview and models.dev, 2026-10.

/** Also used for unknown Claude ids, because every current model accepts its requests. */
export const newestClaude: ModelCapabilities = {
  thinking: 'adaptive',
  efforts: upToMax,
  sampling: false,
  forcedToolChoice: false,
  thinkingOff: false,
  boundReasoning: true,
  media: picturesAndPdf,
  mediaInToolResults: picturesAndPdf,
  mediaByUrl: picturesAndPdf,
  mediaById: keptFiles,
  jsonSchema: true,
  maxOutputTokens: 64_000,
}

/** Minimum context window of any Claude model. Catalogues and options provide the exact number. */
export const claudeWindow = 200_000

/** The oldest available generation: accepts images in tool results, but enforces no response schema. */
const old: ModelCapabilities = {
  ...plain,
  media: picturesAndPdf,
  mediaInToolResults: picturesAndPdf,
  mediaByUrl: picturesAndPdf,
  mediaById: keptFiles,
  jsonSchema: false,
  maxOutputTokens: 4096,
}

/** Generations that think with a token budget. */
export const budgetClaude: ModelCapabilities = { ...old, thinking: 'budget', maxOutputTokens: 64_000 }

const long: ModelCapabilities = { ...newestClaude, maxOutputTokens: 128_000 }
const switchable: ModelCapabilities = { ...long, forcedToolChoice: true, thinkingOff: true }
const firstAdaptive: ModelCapabilities = { ...switchable, efforts: [...upToHigh, 'max'], sampling: true, boundReasoning: false }

/**
 * Returns the capabilities of a Claude model on any platform. Ids may contain a region, a vendor prefix, dots and a date.
 * Source: docs/providers/anthropic.md
 */
export const claudeTable: readonly CapabilityRow[] = [
  { ids: /claude-3[-.]5/, capabilities: { ...old, maxOutputTokens: 8192 } },
  { ids: /claude-(instant|v?2|3-opus|3-sonnet|3-haiku)/, capabilities: old },
  { ids: /claude-opus-4(?![-.][5-9](?!\d))/, capabilities: { ...budgetClaude, maxOutputTokens: 32_000 } },
  { ids: /claude-(3[-.]7|(opus|sonnet|haiku)-4(?![-.][6-9](?!\d)))/, capabilities: budgetClaude },
  { ids: /claude-opus-4[-.]6/, capabilities: firstAdaptive },
  { ids: /claude-(sonnet|haiku)-4[-.]6/, capabilities: { ...firstAdaptive, maxOutputTokens: 64_000 } },
  { ids: /claude-((opus|sonnet|haiku)-4[-.][7-9]|(opus|sonnet)-5(?![-.]\d(?!\d))|haiku-5[-.]5)/, capabilities: switchable },
  { ids: /claude-(fable|mythos)-5(?![-.]\d(?!\d))/, capabilities: { ...long, thinking: 'alwaysOn', forcedToolChoice: true } },
  { ids: /claude-(fable-5[-.][12]|opus-5[-.]5)/, capabilities: { ...long, thinking: 'alwaysOn' } },
]
