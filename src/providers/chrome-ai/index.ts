import { ConfigError } from '../../contract/errors.ts'
import { unknownCost } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, anObject, aPositiveNumber, aText, listOf, oneOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { BrowserAi, BrowserModelAvailability } from './language-model.ts'
import { BrowserModelProvider } from './provider.ts'

export type { BrowserAi, BrowserModelAvailability, LanguageModelInterface, LanguageModelSession } from './language-model.ts'

/** What `chromeAi` takes: nothing of it has to be given. */
export interface ChromeAiOptions {
  /** Languages that are spoken, such as `en` and `de`: the browser may have to load more for them. Default: it decides. */
  languages?: readonly string[]
  /** Told while the browser downloads its model: `loaded` goes from 0 to 1. What it throws is the browser's to report. */
  onDownload?: (progress: { loaded: number }) => void
  /** `native`: the model makes its calls itself where the browser can, else `constrained`: they are answers of a form. Default `native`. */
  toolUse?: 'native' | 'constrained'
  /** Tokens that a session holds, for compaction. The answer of the browser counts as well. Default 9,216. */
  contextWindow?: number
  /** What the browser has. Default: the global objects. */
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
 * The model that a browser brings along, by its Prompt API (`LanguageModel`): no key, no server, and what is said stays on the device.
 *
 * **Contract**
 * - Each call makes a session of the history and destroys it. What does not fit its window is `contextOverflow`, so that the run compacts: the browser itself
 *   would drop the beginning without a word.
 * - Pictures and sound go with their bytes. `responseFormat` is held by the browser. Settings that it does not have are left out, with a warning.
 * - Where there is no such model, a call fails with `ProviderError` `unsupported`: ask {@link availability} first.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/providers/browser-models.md
 *
 * @example
 * const model = (await availability()) === 'unavailable' ? anthropic('claude-sonnet-4-6', { baseUrl }) : chromeAi({ onDownload: ({ loaded }) => show(loaded) })
 */
export function chromeAi(options: ChromeAiOptions = {}): Model {
  check(options)
  const { languages = [], onDownload, toolUse = 'native', contextWindow = 9216, ai } = options
  return {
    config: {
      ...{ id: 'browser', name: 'The model of this browser', api: 'chromeAi', provider: 'chrome-ai', baseUrl: '' },
      ...{ reasoning: false, contextWindow, maxTokens: 0, cost: { ...unknownCost }, headers: {} },
    },
    provider: new BrowserModelProvider({ ai: () => ai ?? globalAi(), toolUse, languages, onDownload }),
  }
}

/** Whether this browser has a model, or could download one; `unavailable` also where the interface is not there. Never rejects. */
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
    throw new ConfigError('invalidOption', 'ai must be { LanguageModel }, as a browser has it.')
}

/** The global object, where it has the interface. */
function globalAi(): BrowserAi | undefined {
  return 'LanguageModel' in globalThis ? (globalThis as unknown as BrowserAi) : undefined // just looked at
}
