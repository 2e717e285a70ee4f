import { ConfigError } from '../../contract/errors.ts'
import { unknownCost } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, anObject, aPositiveNumber, aText, listOf, oneOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { BrowserAi, BrowserModelAvailability } from './language-model.ts'
import { BrowserModelProvider } from './provider.ts'

export type { BrowserAi, BrowserModelAvailability, LanguageModelInterface, LanguageModelSession } from './language-model.ts'

/** Options for `chromeAi`. All are optional. */
export interface ChromeAiOptions {
  /**
   * The conversation's languages, such as `en` and `de`. The browser may download additional data for them. Default: the browser decides.
   */
  languages?: readonly string[]
  /** Called during the model download. `loaded` increases from 0 to 1. The browser reports errors of this function. */
  onDownload?: (progress: { loaded: number }) => void
  /**
   * `native`: uses the browser's tool calls if supported, otherwise `constrained`. `constrained`: requests calls as structured responses.
   * Default: `native`.
   */
  toolUse?: 'native' | 'constrained'
  /** Context window of a session in tokens, including responses, for compaction. Default: 9,216. */
  contextWindow?: number
  /** Prompt API objects. Default: the globals. */
  ai?: BrowserAi
}

const chromeOptions = optionsOf<ChromeAiOptions>({
  languages: listOf(aText),
  onDownload: aFunction,
  toolUse: oneOf('native', 'constrained'),
  contextWindow: aPositiveNumber,
  ai: anObject,
})

/**
 * Creates a model that uses the browser's built-in model through the Prompt API (`LanguageModel`). Requires no key or server. Data stays on
 * the device.
 *
 * **Contract**
 * - Each call creates a session from the history and destroys it. A prompt that does not fit fails with `contextOverflow`, so that the run
 *   compacts the history. The browser would silently drop the beginning.
 * - Images and audio are sent as bytes. The browser enforces `responseFormat`. Unsupported settings are omitted with a warning.
 * - Without a built-in model, a call fails with `ProviderError` `unsupported`: check {@link availability} first.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/providers/browser-models.md
 *
 * @example
 * const model = (await availability()) === 'unavailable' ? anthropic('claude-sonnet-4-6', { baseUrl }) : chromeAi({ onDownload: ({ loaded
 * }) => show(loaded) })
 */
export function chromeAi(options: ChromeAiOptions = {}): Model {
  check(options)
  const { languages = [], onDownload, toolUse = 'native', contextWindow = 9216, ai } = options
  return {
    config: {
      ...{ id: 'browser', name: "The browser's model", api: 'chromeAi', provider: 'chrome-ai', baseUrl: '' },
      ...{ reasoning: false, contextWindow, maxTokens: 0, cost: { ...unknownCost }, headers: {} },
    },
    provider: new BrowserModelProvider({ ai: () => ai ?? globalAi(), toolUse, languages, onDownload }),
  }
}

/** Resolves with whether this browser has a model or can download one. `unavailable` if the browser lacks the API. Never rejects. */
export async function availability({
  languages = [],
  ai = globalAi(),
}: Pick<ChromeAiOptions, 'languages' | 'ai'> = {}): Promise<BrowserModelAvailability> {
  const text = { type: 'text' as const, ...(languages.length > 0 && { languages }) }
  try {
    return (await ai?.LanguageModel.availability({ expectedInputs: [text], expectedOutputs: [text] })) ?? 'unavailable'
  } catch {
    return 'unavailable'
  }
}

function check(options: ChromeAiOptions): void {
  checkOptions(options, chromeOptions)
  const { ai } = options
  if (ai !== undefined && typeof ai.LanguageModel?.create !== 'function')
    throw new ConfigError('invalidOption', 'ai must be { LanguageModel }, as provided by the browser.')
}

/** Returns the global object if it provides the API. */
function globalAi(): BrowserAi | undefined {
  return 'LanguageModel' in globalThis ? (globalThis as unknown as BrowserAi) : undefined // Just checked.
}
