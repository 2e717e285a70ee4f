import type {
  AnswerChunk,
  BrowserAi,
  BrowserModelAvailability,
  LanguageModelSession,
  PromptMessage,
  SessionOptions,
} from '../../src/providers/chrome-ai/language-model.ts'

/** What a stand-in answers to what it has been told, in pieces. */
export type BrowserScript = (
  prompts: readonly PromptMessage[],
  constraint: unknown,
) => readonly AnswerChunk[] | Promise<readonly AnswerChunk[]>

/** How the stand-in behaves. */
interface StandInOptions {
  availability?: BrowserModelAvailability
  contextWindow?: number
  /** The names that browsers had before. */
  isOld?: boolean
  /** The model makes tool calls of its own. */
  hasTools?: boolean
  takes?: readonly string[]
  /** What it does not answer before `until`, once `asked` was called, whoever aborts. */
  hangs?: 'availability' | 'create' | 'measure'
  asked?: () => void
  until?: Promise<unknown>
}

class Value {
  readonly fields: Record<string, unknown>
  constructor(fields: Record<string, unknown>) {
    this.fields = fields
  }
}
class ToolCall extends Value {}
class ToolSuccess extends Value {}
class ToolError extends Value {}

/** A word is a token. */
const tokensOf = (prompts: readonly PromptMessage[]): number =>
  prompts.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.split(' ').length : content.length * 10), 0)

/** Stands in for a browser's Prompt API, as its specification says: what that refuses is refused. */
export function browserAi(script: BrowserScript, options: StandInOptions = {}) {
  const { availability = 'available', contextWindow = 4000, isOld = false, hasTools = false, takes = ['text', 'image', 'audio'] } = options
  const hang = async (at: StandInOptions['hangs']): Promise<void> => {
    if (options.hangs !== at) return
    options.asked?.()
    await options.until
  }
  const made: SessionOptions[] = []
  const constraints: unknown[] = []
  let open = 0

  class Session implements LanguageModelSession {
    readonly #prompts: PromptMessage[]
    readonly #kinds: ReadonlySet<string>
    readonly #used: { tokens: number }
    #isDestroyed = false

    constructor({ initialPrompts = [], expectedInputs = [] }: SessionOptions) {
      this.#prompts = [...initialPrompts]
      this.#kinds = new Set(['text', ...expectedInputs.map(({ type }) => type)])
      this.#used = { tokens: tokensOf(initialPrompts) }
      const used = this.#used
      this.#check(initialPrompts, true)
      const names = isOld
        ? (['inputUsage', 'inputQuota', 'measureInputUsage'] as const)
        : (['contextUsage', 'contextWindow', 'measureContextUsage'] as const)
      Object.defineProperty(this, names[0], { get: () => used.tokens })
      Object.defineProperty(this, names[1], { value: contextWindow })
      Object.defineProperty(this, names[2], {
        value: async (input: PromptMessage[]) => {
          await hang('measure')
          return tokensOf(input)
        },
      })
      open += 1
    }

    promptStreaming(input: PromptMessage[], { responseConstraint, signal }: { responseConstraint?: unknown; signal?: AbortSignal } = {}) {
      this.#check(input, false)
      constraints.push(responseConstraint)
      this.#prompts.push(...input)
      this.#used.tokens += tokensOf(input)
      let pieces: readonly AnswerChunk[] | undefined
      let at = 0
      return new ReadableStream<AnswerChunk>({
        start: (controller) => {
          signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
        },
        pull: async (controller) => {
          pieces ??= await script(this.#prompts, responseConstraint)
          if (this.#isDestroyed) return controller.error(new DOMException('The session was destroyed.', 'AbortError'))
          const piece = pieces[at]
          at += 1
          if (piece === undefined) return controller.close()
          this.#used.tokens += 1
          controller.enqueue(piece)
        },
      })
    }

    destroy(): void {
      if (!this.#isDestroyed) open -= 1
      this.#isDestroyed = true
    }

    #check(prompts: readonly PromptMessage[], isInitial: boolean): void {
      for (const [at, { role, content }] of prompts.entries()) {
        if (role === 'system' && !(isInitial && at === 0)) throw new TypeError('A system prompt must come first.')
        for (const { type, value } of typeof content === 'string' ? [] : content) {
          if (type !== 'tool-call' && !this.#kinds.has(type)) throw new DOMException(`The session takes no ${type}.`, 'NotSupportedError')
          if ((type === 'image' || type === 'audio') && !(value instanceof Uint8Array)) throw new TypeError(`That is no ${type}.`)
          if (type === 'tool-call' && !(role === 'assistant' && value instanceof ToolCall)) throw new TypeError('That is no call.')
          if (type === 'tool-response' && !(value instanceof ToolSuccess || value instanceof ToolError))
            throw new TypeError('That is no result.')
        }
      }
    }
  }

  const ai: BrowserAi = {
    LanguageModel: {
      availability: async ({ expectedInputs = [] } = {}) => {
        await hang('availability')
        const isTaken = expectedInputs.every(({ type }) => takes.includes(type) || type.startsWith('tool-'))
        return isTaken ? availability : 'unavailable'
      },
      create: async (given = {}) => {
        given.signal?.throwIfAborted()
        if (given.tools !== undefined && given.expectedOutputs?.some(({ type }) => type === 'tool-call') !== true)
          throw new TypeError('Tools need expectedOutputs with tool-call.')
        const monitored = new Map<string, (event: { loaded: number; total: number }) => void>()
        given.monitor?.({ addEventListener: (type, listener) => void monitored.set(type, listener) })
        if (availability !== 'available') for (const loaded of [0, 0.5, 1]) monitored.get('downloadprogress')?.({ loaded, total: 1 })
        if (tokensOf(given.initialPrompts ?? []) > contextWindow) throw new DOMException('Too long.', 'QuotaExceededError')
        await hang('create')
        made.push(given)
        return new Session(given)
      },
    },
    ...(hasTools && { LanguageModelToolCall: ToolCall, LanguageModelToolSuccess: ToolSuccess, LanguageModelToolError: ToolError }),
  }
  return {
    ai,
    /** What sessions were made with. */
    made,
    constraints,
    /** Sessions that hold a model now. */
    get open() {
      return open
    },
  }
}
