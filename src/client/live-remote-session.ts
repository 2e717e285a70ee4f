import { refuseMoreAnswers } from '../base/argument-checks.ts'
import { logWarning } from '../base/log-warning.ts'
import { checkDenial, shownRequest } from '../base/questions.ts'
import { AgentBusyError, errorText } from '../contract/errors.ts'
import { newId } from '../contract/message/identity.ts'
import type { AgentMessage, PromptInput } from '../contract/message/message.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import { endOf } from '../contract/session/session.ts'
import type { ChatAgent, ChatOptions } from '../types/run/chat-agent.ts'
import type { ApprovalRef, ApproveOptions, ClientCallAnswer } from '../types/run/question.ts'
import type { AgentRun, Receipt } from '../types/run/run.ts'
import type { ToolTypesByName } from '../types/tool/typed-tool.ts'
import { asRead, before, beforeAnswer, Conversation, type Rewind } from './conversation.ts'
import { outgoingPrompt } from './outgoing-prompt.ts'
import { continueElsewhere, readHistory, readSession } from './recorded.ts'
import { codeOf, RemoteError } from './remote-error.ts'
import { checkChatOptions, type RemoteSessionOptions } from './remote-options.ts'
import { LiveSharedState } from './remote-shared-state.ts'
import { approvalWith, type Decision, decide, Outbox, type QueuedReceipt } from './run/outbox.ts'
import { RemoteRun, type RunHost } from './run/remote-run.ts'
import { type Beginning, bodyOf, startRun } from './run/start-run.ts'
import { type FeedOwner, SessionFeed } from './session-feed.ts'
import { type AnyTools, answerCall, type ClientTools, claimCall } from './tools/client-tools.ts'
import { PageTools } from './tools/page-tools.ts'
import { Wire } from './wire/wire.ts'

/** See `remoteSession` for the contract. */
export class LiveRemoteSession implements ChatAgent {
  readonly sessionId: string
  readonly #wire: Wire
  readonly #feed: SessionFeed
  readonly #conversation = new Conversation()
  readonly #listeners = new Set<(event: AgentEvent) => void>()
  /** Ids of loops that emit no further events. */
  readonly #ended = new Set<string>()
  #run: RemoteRun | undefined
  /** Settles when the server has accepted or rejected the run that is starting. */
  #starting: Promise<void> | undefined
  readonly #outbox: Outbox
  #hasWatched = false
  readonly #host: RunHost
  readonly #pageTools: PageTools
  readonly sharedState: LiveSharedState

  constructor(options: RemoteSessionOptions) {
    this.sessionId = options.sessionId
    this.#wire = new Wire(options)
    this.#feed = new SessionFeed(this.#wire, this.#owner())
    this.#outbox = new Outbox(this.#wire, { starting: () => this.#starting, warn: (event, error) => this.#warn(event, error) })
    this.#pageTools = new PageTools(this, options.clientId)
    this.sharedState = new LiveSharedState(
      this.#wire,
      (listener) => this.subscribe(listener),
      (error) => this.#warn('stateFailed', error),
    )
    this.#host = {
      sessionId: options.sessionId,
      logger: options.logger,
      stop: (run) => void this.#stop(run),
      queue: (kind, input, run, more) => this.#outbox.queue(kind, input, run, more),
      answer: (inputId, answer) => {
        const asked = { method: 'POST', path: `/inputs/${encodeURIComponent(inputId)}`, body: { ...answer } } as const
        this.#wire.json(asked).catch((error: unknown) => this.#warn('answerFailed', error))
      },
      decide: (request, decision) => {
        this.#decide(request, decision).catch((error: unknown) => this.#warn('decisionFailed', error))
      },
      approveWith: (request, decision) => this.#decide(request, decision),
      claimCall: (request, clientId) => this.claimCall(request, clientId),
      answerCall: (request, answer, clientId) => this.answerCall(request, answer, clientId),
      ended: (run) => this.#ranOut(run),
    }
  }

  // Runs

  prompt(input: PromptInput, options: ChatOptions = {}): AgentRun {
    return this.#begin({ path: '/runs', outgoing: outgoingPrompt(input) }, options)
  }

  send(input: PromptInput, options: ChatOptions = {}): AgentRun {
    return this.#begin({ path: '/send', outgoing: outgoingPrompt(input) }, options)
  }

  continueLoop(options: ChatOptions = {}): AgentRun {
    return this.#begin({ path: '/continue' }, options)
  }

  compact({ focusMessage, ...options }: Pick<ChatOptions, 'signal' | 'metadata'> & { focusMessage?: string } = {}): AgentRun {
    return this.#begin({ path: '/compact', body: focusMessage === undefined ? {} : { focusMessage } }, options)
  }

  regenerate({ messageId, ...options }: ChatOptions & { messageId?: string } = {}): AgentRun {
    const body = messageId === undefined ? {} : { messageId }
    return this.#begin({ path: '/regenerate', body, rewind: beforeAnswer(messageId) }, options)
  }

  editAndResend(messageId: string, input: PromptInput, options: ChatOptions = {}): AgentRun {
    return this.#begin({ path: '/edit', body: { messageId }, outgoing: outgoingPrompt(input), rewind: before(messageId) }, options)
  }

  get isStreaming(): boolean {
    return this.#run !== undefined
  }

  get currentRun(): AgentRun | undefined {
    return this.#run
  }

  get messages(): readonly AgentMessage[] {
    return this.#conversation.messages
  }

  pendingApprovals(): PendingApproval[] {
    return this.#run?.pendingApprovals() ?? [...this.#conversation.approvals]
  }

  pendingClientCalls(): PendingClientCall[] {
    return this.#run?.pendingClientCalls() ?? [...this.#conversation.clientCalls]
  }

  abort(): void {
    this.#run?.abort()
  }

  steer(input: PromptInput, ...more: never[]): Receipt {
    return this.#outbox.queue('steer', input, this.#run, more)
  }

  followUp(input: PromptInput, ...more: never[]): Receipt {
    return this.#outbox.queue('followUp', input, this.#run, more)
  }

  get queued(): readonly QueuedReceipt[] {
    return this.#run?.queued ?? []
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    let isActive = true
    // Wrap the listener in a new function per subscription, so that the same listener may be added twice.
    const heard = (event: AgentEvent) => (isActive ? listener(event) : undefined)
    this.#listeners.add(heard)
    const stopRun = this.#run?.subscribe(heard)
    this.#feed.read()
    return () => {
      isActive = false
      this.#listeners.delete(heard)
      stopRun?.()
      this.#feed.check()
    }
  }

  // Session

  get hasEarlier(): boolean {
    return this.#conversation.hasEarlier
  }

  async loadEarlier({ limit }: { limit?: number } = {}): Promise<readonly AgentMessage[]> {
    const { hasEarlier, messages, place } = this.#conversation
    const first = messages[0]?.id
    if (!hasEarlier || first === undefined) return []
    return this.#conversation.begins(await readHistory(this.#wire, { loopId: place, limit, before: first }), first)
  }

  async load({ loopId: place, limit }: { loopId?: string; limit?: number } = {}): Promise<readonly AgentMessage[]> {
    const history = await readHistory(this.#wire, { loopId: place, limit })
    const { messages, queued, loopId, runningLoopId } = history
    if (place !== undefined && (this.#run !== undefined || runningLoopId !== undefined)) throw busyElsewhere()
    this.#conversation.replace(history)
    this.#hasWatched = true
    this.#conversation.endsWith(loopId, place)
    if (runningLoopId !== undefined) this.#attach(runningLoopId)
    const run = this.#run
    for (const { kind, message, loopId: of } of queued) {
      if (of === run?.loopId) run.expect(this.#outbox.receiptOf(kind, message).accept())
    }
    this.#feed.read()
    this.#pageTools.look()
    return messages
  }

  async approve(request: ApprovalRef, options?: ApproveOptions, ...more: never[]): Promise<void> {
    await this.#decide(shownRequest(request), options === undefined ? { approved: true } : approvalWith(options, more))
  }

  async deny(request: ApprovalRef | string, reason?: string, ...more: never[]): Promise<void> {
    checkDenial(reason, more)
    const ref = typeof request === 'string' ? { toolCallId: request } : shownRequest(request)
    await this.#decide(ref, { approved: false, ...(reason !== undefined && { reason }) })
  }

  async claimCall(request: ApprovalRef, clientId: string, ...more: never[]): Promise<boolean> {
    refuseMoreAnswers('claimCall', more)
    return claimCall(this.#wire, shownRequest(request), clientId)
  }

  async answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string, ...more: never[]): Promise<void> {
    refuseMoreAnswers('answerCall', more)
    const loopId = await answerCall(this.#wire, shownRequest(request), answer, clientId)
    if (loopId !== undefined) this.#attach(loopId)
  }

  tools<Tools extends ToolTypesByName = AnyTools>(handlers: ClientTools<Tools>): () => void {
    return this.#pageTools.add(handlers)
  }

  async rename(title: string): Promise<void> {
    await this.#wire.json({ method: 'POST', path: '/title', body: { title } })
  }

  get logger(): RemoteSessionOptions['logger'] {
    return this.#wire.logger
  }

  close(): void {
    this.#pageTools.close()
    this.sharedState.close()
    this.#wire.close()
    this.#feed.close()
    this.#run?.lose(new RemoteError('closed', 'This client closed the session. The run continues on the server.'))
  }

  // Run start and end

  #begin(beginning: Beginning & { rewind?: Rewind }, given: ChatOptions): AgentRun {
    checkChatOptions(given)
    const { signal, ...options } = given
    if (this.#wire.isClosed) throw new RemoteError('closed', 'This client closed the session. Open it again with remoteSession().')
    if (this.#run !== undefined) throw new AgentBusyError()
    const { path, outgoing, rewind } = beginning
    const run = this.#newRun(outgoing?.messages, rewind)
    if (signal !== undefined) follow(signal, run)
    const body = bodyOf(beginning, options, { place: this.#conversation.place, clientTools: this.#pageTools.offered })
    const starting = startRun({
      ...{ run, path, body, key: outgoing?.key ?? newId(), wire: this.#wire, feed: this.#feed },
      adopted: (loopId) => this.#conversation.endsWith(loopId),
    }).then(() => {
      if (this.#starting === starting) this.#starting = undefined
    })
    this.#starting = starting
    return run
  }

  #newRun(prompts?: readonly AgentMessage[], rewind?: Rewind): RemoteRun {
    const run = new RemoteRun(this.#host, prompts)
    if (prompts !== undefined) this.#wire.media.send(prompts)
    let rewindOnce = rewind
    this.#run = run
    this.#conversation.begin()
    run.subscribe((event) => {
      this.#conversation.add(event, rewindOnce)
      if (event.type === 'agentStart') rewindOnce = undefined
      // A rejected run emits only an end event.
      if (event.type !== 'agentEnd') this.#conversation.endsWith(event.loopId)
    })
    for (const listener of this.#listeners) run.subscribe(listener)
    return run
  }

  #ranOut(run: RemoteRun): void {
    if (run.loopId !== '') this.#ended.add(run.loopId)
    if (this.#run !== run) return
    this.#run = undefined
    // Deferred to a microtask, because the run's last event is not delivered yet.
    queueMicrotask(() => this.#feed.check())
    if (run.isPatched && run.loopId !== '' && !this.#wire.isClosed)
      queueMicrotask(() => this.#mend(run.loopId).catch((error: unknown) => this.#warn('loadFailed', error)))
  }

  /** Loads the history at the end of a loop with missed events. Listeners still receive the later events. */
  async #mend(loopId: string): Promise<void> {
    const history = await readHistory(this.#wire, { loopId })
    if (this.#run === undefined && this.#conversation.isAt(loopId)) this.#conversation.replace(history)
  }

  async #stop(run: RemoteRun): Promise<void> {
    await this.#starting
    if (run.hasEnded) return
    await this.#wire.json({ method: 'POST', path: '/stop' }).catch((error: unknown) => this.#warn('stopFailed', error))
  }

  /** Attaches to a run that is active on the server. */
  #attach(loopId: string): void {
    if (this.#run !== undefined || this.#ended.has(loopId)) return
    this.#newRun().adopt(loopId)
    this.#feed.read()
  }

  // Decisions

  async #decide(request: Partial<ApprovalRef>, decision: Decision): Promise<void> {
    const loopId = await decide(this.#wire, request, decision)
    if (loopId !== undefined) this.#attach(loopId)
  }

  // Feed

  #owner(): FeedOwner {
    const session = this
    return {
      get isWanted() {
        return !session.#wire.isClosed && (session.#listeners.size > 0 || session.#cursor() !== undefined)
      },
      cursor: () => this.#cursor(),
      take: (event) => this.#take(event),
      opened: () => this.#opened(),
      catchUp: (why) => this.#catchUp(why),
      lost: (error) => {
        // Do not log a warning if this client closed the session.
        if (!this.#wire.isClosed) this.#warn('sessionLost', error)
        this.#run?.lose(error)
      },
    }
  }

  #cursor(): { loopId: string; after: number } | undefined {
    return this.#run === undefined || this.#run.loopId === '' ? undefined : this.#run.cursor
  }

  #take(event: AgentEvent): Promise<void> | undefined {
    const run = this.#run
    if (run?.loopId === event.loopId) {
      run.accept(event)
      return undefined
    }
    if (this.#ended.has(event.loopId)) return undefined
    // Wait for the start request's response, because this may be the run that is starting.
    if (this.#starting !== undefined) return this.#starting.then(() => this.#take(event))
    if (run !== undefined) throw new RemoteError('gone', 'Another run started before this one was seen to end.', { isRetryable: true })
    if (event.type === 'agentStart' && this.#conversation.isLeftBy(event)) return this.#followElsewhere(event)
    this.#newRun().accept(event)
    return undefined
  }

  /** Another client has started a run from a point that this client does not know. */
  async #followElsewhere(event: AgentEvent): Promise<void> {
    const history = await readHistory(this.#wire)
    if (this.#run !== undefined) return
    this.#conversation.replace(history)
    this.#newRun(undefined, asRead).accept(event)
  }

  /** Emits the recorded events of missed runs, and follows the active run. */
  async #opened(): Promise<boolean> {
    this.sharedState.opened()
    if (this.#listeners.size === 0 || this.#cursor() !== undefined || this.#starting !== undefined) return true
    // After switching back to an earlier loop, later events are irrelevant.
    if (this.#conversation.place !== undefined) return true
    const isFirst = !this.#hasWatched && this.messages.length === 0
    const after = isFirst ? undefined : this.messages.at(-1)?.id
    const history = this.#conversation.fromHereOn(await readHistory(this.#wire, { after }))
    const { messages, isRest, loopId } = history
    const hasEarlier = isRest ? this.hasEarlier : history.hasEarlier
    this.#hasWatched = true
    const known = new Set(this.messages.map(({ id }) => id))
    const missed = new Set(messages.flatMap(({ id }) => (known.has(id) ? [] : id)))
    // Remove messages of the abandoned branch before the rest is emitted.
    if (!isRest && !isFirst)
      this.#conversation.replace({ ...this.#conversation.waiting, hasEarlier, messages: messages.filter(({ id }) => known.has(id)) })
    if (!isFirst && missed.size > 0) await this.#tell(missed)
    if (this.#run !== undefined) return false
    this.#conversation.replace({ ...history, hasEarlier, messages: isRest ? this.messages : messages })
    this.#conversation.endsWith(loopId, this.#conversation.place)
    return true
  }

  async #tell(missed: ReadonlySet<string>): Promise<void> {
    const { loops } = await readSession(this.#wire)
    for (const record of loops) {
      const isMissed = record.messages.some(({ id }) => missed.has(id)) && !this.#ended.has(record.loopId)
      if (isMissed && endOf(record) === undefined) this.#attach(record.loopId)
      else if (isMissed && this.#run === undefined) this.#newRun().finish(record)
    }
  }

  async #catchUp(why: RemoteError): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    const lost = run.loopId
    await continueElsewhere(this.#wire, run, why)
    if (run.loopId !== lost) this.#ended.add(lost)
  }

  #warn(event: string, error: unknown): void {
    logWarning(this.#wire.logger, event, { sessionId: this.sessionId, code: codeOf(error), message: errorText(error) })
  }
}

function busyElsewhere(): RemoteError {
  return new RemoteError('busy', 'This session has an active run. Wait for it to end or stop it before you go back to a loop.')
}

function follow(signal: AbortSignal, run: AgentRun): void {
  const stop = () => run.abort()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  void run.result.then(() => signal.removeEventListener('abort', stop))
}
