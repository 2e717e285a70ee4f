import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { type AgentEvent, type AgentRun, ConfigError } from '../../../../src/index.ts'
import type { Assistant } from '../assistant/assistant.ts'
import { OneShots } from '../assistant/latest-sessions.ts'
import { recordedLoops } from '../assistant/recorded-loops.ts'
import type { CommandHost } from '../commands/command.ts'
import { runCommand } from '../commands/commands.ts'
import { openingPrompt } from '../demo/demo-model.ts'
import { errorLine } from '../endings.ts'
import { mentionOf, withFiles } from '../modes/prompt-input.ts'
import type { QuestionEnd } from '../questions/call-question.ts'
import { askClient, Questions } from '../questions/questions.ts'
import { loadColours } from '../render/markdown.ts'
import { showPast } from '../render/past-turns.ts'
import { RunView } from '../render/run-view.ts'
import { editedLines } from '../terminal/line-editor.ts'
import { LineHistory } from '../terminal/line-history.ts'
import { type LineListener, type LineSource, type NamedKey, plainLines } from '../terminal/line-source.ts'
import { joined, type Painted } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { wrapWords } from '../terminal/text-width.ts'
import { completionOf, FileIndex } from './completion.ts'
import { Meter } from './meter.ts'
import { editText, pastedImage } from './outside-input.ts'
import { type RunsListener, SessionRuns } from './session-runs.ts'
import { runTyped } from './typed-command.ts'

/** Redraw interval of the live area, in ms. */
const frameMs = 80

/** Milliseconds without a key press after which the user may be away. */
const awayMs = 10_000

const takenOver = (sessionId: string) =>
  `Another process took over this session. /resume ${sessionId} takes it back; /clear starts a new one.`

/** Options for a REPL. */
export interface ReplOptions {
  assistant: Assistant
  screen: Screen
  isDemo: boolean
  /** First prompt, handled like typed input. */
  first?: string
}

/** Runs an interactive conversation in a terminal until the user quits. Resolves with the exit code: 0, or 130 after Ctrl-C. */
export function talk(options: ReplOptions): Promise<number> {
  return new Repl(options).run()
}

class Repl implements LineListener, CommandHost, RunsListener {
  readonly assistant: Assistant
  readonly screen: Screen
  readonly meter = new Meter()
  readonly #view: RunView
  readonly #questions: Questions
  readonly #lines: LineSource
  readonly #first: string | undefined
  readonly #runs = new SessionRuns(this)
  readonly #ended: Promise<number>
  #resolveEnd: (code: number) => void = () => undefined
  /** Unprocessed input. */
  #before: Promise<void> = Promise.resolve()
  #isOver = false
  /** Running command that the user typed. */
  #typed: AbortController | undefined
  /** Unfinished input at the time a question appeared. */
  #draft: string | undefined
  #frames: NodeJS.Timeout | undefined
  /** Time of the last user activity, from `performance.now()`. */
  #lastKeyAt = performance.now()

  constructor({ assistant, screen, isDemo, first }: ReplOptions) {
    this.assistant = assistant
    this.screen = screen
    this.#first = isDemo ? openingPrompt : first
    this.#ended = new Promise((resolve) => {
      this.#resolveEnd = resolve
    })
    this.#view = new RunView(screen)
    const { stdin, stderr } = process
    const { servers } = assistant
    servers.subscribe(() => this.#draw())
    const index = new FileIndex(assistant.root, () => this.#draw())
    const history = new LineHistory(assistant.project?.history)
    this.#lines = screen.isLive
      ? editedLines(stdin, stderr, this, { complete: (before) => completionOf(before, index, servers), rewrite: mentionOf, history })
      : plainLines(stdin, this)
    const { permissions, files } = assistant
    this.#questions = new Questions({
      screen,
      permissions,
      files,
      tools: () => assistant.agent.settings.tools ?? [],
      onShown: () => this.#questionShown(),
      ...(screen.isLive && { editText: (text: string, name: string) => editText(text, name, this.#lines, screen) }),
    })
  }

  async run(): Promise<number> {
    const stop = (signal: NodeJS.Signals) => this.leave(signal === 'SIGTERM' ? 143 : 129)
    const interrupt = () => this.interrupt()
    process.on('SIGINT', interrupt).on('SIGTERM', stop).on('SIGHUP', stop)
    try {
      // Load colors before showing a restored conversation. Otherwise, load them after showing the prompt.
      if (this.assistant.agent.messages.length > 0) await loadColours(this.screen.paint)
      this.meter.begin(this.assistant.agent, await recordedLoops(this.assistant))
      this.#welcome()
      return await this.#ended
    } finally {
      process.off('SIGINT', interrupt).off('SIGTERM', stop).off('SIGHUP', stop)
      clearInterval(this.#frames)
      this.#lines.close()
      this.screen.title('')
      this.screen.close()
    }
  }

  get isBusy(): boolean {
    return this.#runs.current !== undefined
  }

  #welcome(): void {
    const { paint } = this.screen.paint
    const { agent, root, notes } = this.assistant
    this.screen.line(joined(paint('bold', 'phi'), paint('dim', `  ${agent.settings.model.config.name} · ${root} · /help`)))
    for (const note of notes) this.screen.say('yellow', note)
    this.screen.title(`phi · ${basename(root)}`)
    this.screen.askBackground()
    this.assistant.onAgent = () => this.#runs.follow(this.assistant.agent)
    this.#runs.follow(agent)
    if (agent.messages.length > 0) {
      showPast(agent.messages, this.screen)
      this.screen.line(paint('dim', `Resumed session ${agent.sessionId}, ${agent.messages.length} messages.`))
    }
    this.#draw()
    if (this.#first === undefined) return
    if (this.assistant.servers.isCommand(this.#first)) this.line(this.#first)
    else void this.#say(this.#first)
  }

  // User input

  line(text: string): void {
    if (this.#isOver) return
    if (this.#questions.isAsking) {
      this.#echo(this.#promptText(), text)
      this.#answer(text)
      if (!this.#questions.isAsking) this.#giveBackDraft()
      this.#draw()
    } else {
      // Input typed before a question does not answer it. Input typed after a command waits for the command.
      this.#before = this.#before.then(() => this.#do(text)).catch((error: unknown) => this.fail(error))
    }
  }

  async #do(text: string): Promise<void> {
    if (this.#isOver || text.trim() === '') return this.#draw()
    this.#lines.remember(text)
    if (text.startsWith('!')) return this.#runTyped(text)
    if (!text.trimStart().startsWith('/')) return this.#say(text)
    this.#echo('› ', text)
    await runCommand(this, text.trim())
    this.#draw()
  }

  #answer(text: string): void {
    try {
      this.#questions.answer(text)
      if (this.#questions.isAsking && !this.screen.isLive) this.note(this.#promptText())
    } catch (error) {
      this.fail(error)
    }
  }

  change(): void {
    this.#lastKeyAt = performance.now()
    this.#draw()
  }

  named(key: NamedKey): void {
    if (key === 'shiftTab') this.assistant.permissions.turn()
    else if (key === 'open') this.#view.open()
    else if (key === 'pasteImage') void this.#pasteImage()
    else if (key === 'editor' && !this.#questions.isAsking) void this.#editLine()
    this.#draw()
  }

  async #pasteImage(): Promise<void> {
    try {
      const path = await pastedImage(join(dirname(this.assistant.project?.history ?? join(tmpdir(), 'phi')), 'pasted'))
      this.#lines.insert(`@"${path}" `)
    } catch (error) {
      this.fail(error)
    }
  }

  async #editLine(): Promise<void> {
    const { text } = this.#lines.typed
    const edited = await editText(text, 'prompt.md', this.#lines, this.screen)
    this.#lines.take()
    this.#lines.insert((edited ?? text).trimEnd())
  }

  /** A command after `!` runs immediately. */
  async #runTyped(text: string): Promise<void> {
    if (this.isBusy) throw new ConfigError('invalidOption', 'Commands are not available while the agent works. Ctrl-C stops the agent.')
    this.#echo('› ', text)
    this.#typed = new AbortController()
    try {
      await runTyped(text.slice(1).trim(), this.assistant.agent, this.screen, this.#typed.signal)
    } finally {
      this.#typed = undefined
      this.#draw()
    }
  }

  background(isLight: boolean): void {
    this.screen.background(isLight)
  }

  note(text: string): void {
    this.screen.say('yellow', text)
  }

  escape(): void {
    if (!this.#questions.dismiss()) return
    if (!this.#questions.isAsking) this.#giveBackDraft()
    this.#draw()
  }

  interrupt(): void {
    if (this.#questions.dismiss()) {
      if (!this.#questions.isAsking) this.#giveBackDraft()
      this.#draw()
    } else if (this.#typed !== undefined && !this.#typed.signal.aborted) {
      this.#typed.abort()
    } else if (this.#runs.stop()) {
      this.note('Stopping. Press Ctrl-C again to exit now.')
    } else if (this.#runs.current === undefined && this.#lines.typed.text !== '') {
      this.#lines.take()
      this.#draw()
    } else this.leave(130)
  }

  end(): void {
    if (this.#isOver) return
    this.#questions.denyAll('No user is available to approve.')
    if (this.#runs.current === undefined) this.leave(0)
    else this.#runs.current.result.finally(() => this.leave(0)).catch(() => undefined)
  }

  giveBack(text: string): void {
    this.#lines.take()
    this.#lines.insert(text)
  }

  leave(code = 0): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#questions.denyAll('The user has left.')
    this.assistant.agent.abort()
    this.#resolveEnd(code)
  }

  fail(error: unknown): void {
    this.screen.say('red', errorLine(error))
    this.#draw()
  }

  // Runs

  async #say(text: string): Promise<void> {
    const { root, servers } = this.assistant
    try {
      const [input] = await Promise.all([withFiles(text, root, { resourceOf: servers.resource }), loadColours(this.screen.paintData)])
      if (this.#isOver) return
      if (this.#runs.current === undefined) {
        this.#echo('› ', text)
        const { agent, project } = this.assistant
        if (project !== undefined && agent.messages.length > 0) new OneShots(project.oneShots).remove(agent.sessionId)
        this.#runs.say(agent, input)
      } else this.#steer(this.#runs.current, text, input)
    } catch (error) {
      this.fail(error)
    }
  }

  #steer(run: AgentRun, text: string, input: string | MessageInput): void {
    this.#echo('↪ ', text)
    this.#runs.steer(run, input).settled.then(
      (status) => {
        if (status === 'delivered' || this.#isOver) return
        // The agent ended before receiving the message, so it becomes the next prompt. After a stop, the message returns to the input line.
        if (this.#runs.lastStatus === 'completed') return void this.#say(text)
        this.note('The run ended before it read this message. The text is back in your prompt.')
        this.#lines.insert(text)
      },
      (error: unknown) => this.fail(error),
    )
  }

  begin(run: AgentRun): void {
    this.#runs.begin(run)
  }

  begun(): void {
    if (this.screen.isLive) this.#frames ??= setInterval(() => this.#draw(), frameMs)
    this.#draw()
  }

  event(run: AgentRun, event: AgentEvent): void {
    this.#view.event(event)
    this.meter.event(event)
    if (event.type === 'approvalRequested' || event.type === 'inputRequested') this.#questions.ask(run, event)
    else if (event.type === 'clientCallRequested')
      askClient(run, event, { screen: this.screen, hasWebApp: this.assistant.served !== undefined })
    else if (event.type === 'approvalResolved' || event.type === 'inputResolved' || event.type === 'agentEnd') this.#withdraw(event)
    // After a takeover, this client can only take the session back.
    if (event.type === 'agentEnd' && event.error?.cause?.code === 'conflict') this.note(takenOver(event.sessionId))
  }

  promptedElsewhere(text: string): void {
    this.#echo('› ', text)
  }

  ended(): void {
    clearInterval(this.#frames)
    this.#frames = undefined
    this.#callAway('phi is done')
    this.#draw()
  }

  /** A user without recent input may be away. */
  #callAway(text: string): void {
    if (performance.now() - this.#lastKeyAt > awayMs) this.screen.call(text)
  }

  #questionShown(): void {
    // A yes counts only if typed after the question was shown.
    this.#draft ??= this.#lines.take()
    this.#callAway('phi needs your input')
    if (!this.screen.isLive) this.note(this.#promptText())
    this.#draw()
  }

  #withdraw(event: QuestionEnd): void {
    const wasAsking = this.#questions.isAsking
    this.#questions.withdraw(event)
    if (wasAsking && !this.#questions.isAsking) this.#giveBackDraft()
  }

  #giveBackDraft(): void {
    const draft = this.#draft
    this.#draft = undefined
    this.#lines.take()
    if (draft !== undefined && draft !== '') this.#lines.insert(draft)
  }

  // The screen

  #promptText(): string {
    if (this.#questions.isAsking) return this.#questions.prompt
    return `${this.assistant.permissions.mode} · ${this.meter.line(this.assistant.agent, this.screen.width)} › `
  }

  #draw(): void {
    if (this.#isOver || !this.screen.isLive) return
    const { paint } = this.screen.paint
    const live: Painted[] = this.#runs.current === undefined ? [] : this.#view.live(Date.now())
    const { label, ...typed } = this.#lines.typed
    const prompt = paint(this.#questions.isAsking ? 'yellow' : 'dim', label ?? this.#promptText())
    const suggested = this.#questions.isAsking ? [] : this.#lines.suggestions.map((each) => paint('cyan', `  ${each}`))
    this.screen.show([...live, ...suggested], { prompt, ...typed })
  }

  /** The input stays visible, unless the terminal itself shows it. */
  #echo(prompt: string, text: string): void {
    if (!this.screen.isLive) return
    const { paint, plain } = this.screen.paint
    const lines = text.split('\n')
    const shown = lines.length > 12 ? `${lines.slice(0, 10).join('\n')}\n… ${lines.length - 10} more lines` : text
    this.screen.line(wrapWords(joined(paint('green', prompt), plain(shown.slice(0, 4000))), this.screen.width, '  '))
  }
}
