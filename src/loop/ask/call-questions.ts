import type { AbortScope } from '../../base/abort.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ConfigError } from '../../contract/errors.ts'
import { newId } from '../../contract/message/identity.ts'
import type { InputQuestion, PendingInput } from '../../contract/run/run-facts.ts'
import { fits } from '../../contract/shape/read.ts'
import { aJsonSchema } from '../../contract/shape/shape.ts'
import type { ApprovalHandler, ClientCallHandler, InputAnswer, InputHandler, RequestHandler, RunGuards } from '../../types/run/question.ts'
import type { LoopState } from '../loop-state.ts'
import { ruleOf } from './permission.ts'
import { AskedQuestion, type Asker, approvalQuestion, clientCallQuestion, inputQuestion, type Question } from './question.ts'

/** The call that requests input. `pause` stops its timeout and returns a function that resumes it. */
interface AskingCall {
  id: string
  name: string
  stop: AbortScope
  pause(): () => void
}

/**
 * Handles user input requests from a running call and its nested loops. Forwards requests from nested loops to the call's run.
 *
 * **Contract**
 * - When the call is stopped or ends, withdraws pending requests. Later requests resolve without a response.
 */
export class CallQuestions {
  readonly #loop: LoopState
  readonly #call: AskingCall
  readonly #open = new Set<{ withdraw(reason: string): void }>()
  #isClosed = false

  constructor(loop: LoopState, call: AskingCall) {
    this.#loop = loop
    this.#call = call
  }

  /** Requests input for the call itself. Never rejects. Throws `ConfigError` `invalidOption` for an invalid question. */
  input(question: InputQuestion, signal?: AbortSignal): Promise<InputAnswer> {
    const { id: toolCallId, name: toolName, pause } = this.#call
    const { events, config, options, budget } = this.#loop
    const asked = inputQuestion(events, { inputId: newId(), toolCallId, toolName, ...checkedQuestion(question) })
    const pauses = [() => budget.pause(), pause]
    return new Promise((resolve) => {
      this.#ask(options.inputs, asked, resolve, { timeoutMs: config.approvalTimeoutMs, signal, pauses })
    })
  }

  /** Returns the run's settings and request handlers, for nested loops. */
  get guards(): RunGuards {
    const { config, options, watches, context } = this.#loop
    const { hooks: { prepareTurn: _ofThisAgent, ...hooks } = {}, inputFilters, approvalTimeoutMs, requireMedia, resolveMedia } = config
    const plugins = config.plugins?.filter(({ covers }) => covers === 'tree') ?? []
    const { approvals, inputs, clientCalls } = options
    return {
      config: {
        ...(Object.keys(hooks).length > 0 && { hooks }),
        ...(inputFilters !== undefined && { inputFilters }),
        ...(plugins.length > 0 && { plugins }),
        ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
        ...(watches !== undefined && { observers: watches.inner(this.#call.id) }),
        ...(requireMedia !== undefined && { requireMedia }),
        ...(resolveMedia !== undefined && { resolveMedia }),
      },
      options: {
        ...(approvals !== undefined && { approvals: this.#approvals(approvals) }),
        ...(inputs !== undefined && { inputs: this.#inputs(inputs) }),
        ...(clientCalls !== undefined && { clientCalls: this.#clientCalls(clientCalls) }),
        approvalRule: (toolName) => {
          const tool = context.tools.find(({ name }) => name === toolName)
          return tool === undefined ? options.approvalRule?.(toolName) : ruleOf(this.#loop, tool)
        },
        ...(options.context !== undefined && { context: options.context }),
      },
    }
  }

  /** Ends the call: withdraws pending requests. */
  close(): void {
    this.#isClosed = true
    for (const asked of this.#open) asked.withdraw('the call that asked is over')
  }

  #approvals(above: ApprovalHandler): ApprovalHandler {
    const { events } = this.#loop
    return {
      wait: ({ runId: _run, seq: _seq, loopId, checkEdit, ...pending }, decide) => {
        const question = approvalQuestion(events, { ...pending, subAgent: this.#subAgent(loopId, pending) }, checkEdit && { checkEdit })
        return this.#forward(above, question, decide)
      },
    }
  }

  #inputs(above: InputHandler): InputHandler {
    const { events } = this.#loop
    const { pause } = this.#call
    return {
      wait: ({ loopId, ...pending }, answer) =>
        this.#forward(above, inputQuestion(events, { ...pending, subAgent: this.#subAgent(loopId, pending) }), answer, [pause]),
    }
  }

  #clientCalls(above: ClientCallHandler): ClientCallHandler {
    const { events } = this.#loop
    const { pause } = this.#call
    return {
      wait: ({ runId: _run, seq: _seq, loopId, maxResultChars, holder, claimed, ...pending }, tell) => {
        const terms = { maxResultChars, claimed, ...(holder !== undefined && { holder }) }
        const question = clientCallQuestion(events, { ...pending, subAgent: this.#subAgent(loopId, pending) }, terms)
        return this.#forward(above, question, tell, [pause])
      },
    }
  }

  /** Returns the sub-agent call to show with a request: the call, and the outermost nested loop that it started. */
  #subAgent(loopId: string, { subAgent }: Pick<PendingInput, 'subAgent'>): NonNullable<PendingInput['subAgent']> {
    return { toolCallId: this.#call.id, toolName: this.#call.name, loopId: subAgent?.loopId ?? loopId }
  }

  #forward<Request, Answer>(
    above: RequestHandler<Request, Answer>,
    question: Question<Request, Answer>,
    settle: (answer: Answer) => void,
    pauses: Asker['pauses'] = [],
  ): () => void {
    const asked = this.#ask(above, question, settle, { pauses })
    return () => asked?.leave('the sub-agent no longer asks')
  }

  #ask<Request, Answer>(
    handler: RequestHandler<Request, Answer> | undefined,
    question: Question<Request, Answer>,
    settle: (answer: Answer) => void,
    asker: Pick<Asker, 'timeoutMs' | 'signal' | 'pauses'>,
  ): AskedQuestion<Request, Answer> | undefined {
    const { stop } = this.#call
    if (handler === undefined || this.#isClosed || stop.aborted || asker.signal?.aborted) {
      // Settle asynchronously, so that the requester returns first.
      queueMicrotask(() => settle(question.none))
      return undefined
    }
    const asked: AskedQuestion<Request, Answer> = new AskedQuestion(question, settle, () => this.#open.delete(asked))
    this.#open.add(asked)
    asked.begin(handler, { ...asker, stop, whyStopped: () => 'the call was stopped' })
    return asked
  }
}

/** Returns a validated copy of a question's visible fields. Throws `ConfigError` `invalidOption` if a field is invalid. */
function checkedQuestion(question: InputQuestion): Omit<PendingInput, 'inputId' | 'toolCallId' | 'toolName'> {
  const { message, schema, url, problem }: Partial<Record<keyof InputQuestion, unknown>> = Object(question)
  const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === 'string'
  const isSchema = schema === undefined || fits(aJsonSchema, schema)
  if (typeof message !== 'string' || !isText(url) || !isText(problem) || !isSchema) {
    throw new ConfigError('invalidOption', 'ctx.requestInput takes { message, schema?, url?, problem? }: texts, and a JSON Schema.')
  }
  return {
    message,
    ...(schema !== undefined && { schema: copyJson({ ...schema }) }),
    ...(url !== undefined && { url }),
    ...(problem !== undefined && { problem }),
  }
}
