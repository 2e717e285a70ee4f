import type { AgentRun, PromptInput, RunStatus } from '../../../../src/index.ts'
import type { ApprovalRequestedEvent, InputRequestedEvent } from '../../../../src/loop/index.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { CommandHost } from '../commands/command.ts'
import { commandNames, runCommand } from '../commands/commands.ts'
import { openingPrompt } from '../demo/demo-model.ts'
import { RunView } from '../render/run-view.ts'
import { editedLines, type LineListener, type LineSource, plainLines } from '../terminal/line-editor.ts'
import { joined, type Painted } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { errorLine } from './error-line.ts'
import { Meter } from './meter.ts'
import { mentionOf, withFiles } from './prompt-files.ts'
import type { QuestionEnd } from './question.ts'
import { Questions } from './questions.ts'

/** How often the part that changes is drawn, in ms. */
const frameMs = 80

const takenOver = (sessionId: string) =>
  `This session was taken over elsewhere. /resume ${sessionId} goes on with it as it is there now; /clear begins another one.`

/** What a REPL needs to know. */
export interface ReplOptions {
  assistant: Assistant
  screen: Screen
  isYes: boolean
  isDemo: boolean
}

/** Talks with a person at a terminal until they leave. Resolves with the exit code: 0, or 130 after Ctrl-C. */
export function talk(options: ReplOptions): Promise<number> {
  return new Repl(options).run()
}

class Repl implements LineListener, CommandHost {
  readonly assistant: Assistant
  readonly screen: Screen
  readonly meter = new Meter()
  readonly #view: RunView
  readonly #questions: Questions
  readonly #lines: LineSource
  readonly #isDemo: boolean
  readonly #ended: Promise<number>
  #resolveEnd: (code: number) => void = () => undefined
  #run: AgentRun | undefined
  #lastStatus: RunStatus | undefined
  /** What was said and is not done yet. */
  #before: Promise<void> = Promise.resolve()
  #isStopping = false
  #isOver = false
  /** What was being typed when a question came. */
  #draft: string | undefined
  #frames: NodeJS.Timeout | undefined

  constructor({ assistant, screen, isYes, isDemo }: ReplOptions) {
    this.assistant = assistant
    this.screen = screen
    this.#isDemo = isDemo
    this.#ended = new Promise((resolve) => {
      this.#resolveEnd = resolve
    })
    this.#view = new RunView(screen)
    this.#questions = new Questions(screen, isYes)
    const { stdin, stderr } = process
    this.#lines = screen.isLive ? editedLines(stdin, stderr, this, (line) => commandNames(line), mentionOf) : plainLines(stdin, this)
  }

  async run(): Promise<number> {
    const stop = (signal: NodeJS.Signals) => this.leave(signal === 'SIGTERM' ? 143 : 129)
    const interrupt = () => this.interrupt()
    process.on('SIGINT', interrupt).on('SIGTERM', stop).on('SIGHUP', stop)
    try {
      this.#welcome()
      return await this.#ended
    } finally {
      process.off('SIGINT', interrupt).off('SIGTERM', stop).off('SIGHUP', stop)
      clearInterval(this.#frames)
      this.#lines.close()
      this.screen.close()
    }
  }

  get isBusy(): boolean {
    return this.#run !== undefined
  }

  #welcome(): void {
    const { paint } = this.screen.paint
    const { agent, root, notes } = this.assistant
    this.screen.line(joined(paint('bold', 'phi'), paint('dim', `  ${agent.settings.model.config.name} · ${root} · /help`)))
    for (const note of notes) this.screen.line(paint('yellow', note))
    this.meter.begin(agent)
    if (agent.messages.length > 0)
      this.screen.line(paint('dim', `Going on with session ${agent.sessionId}, ${agent.messages.length} messages.`))
    this.#draw()
    if (this.#isDemo) void this.#say(openingPrompt)
  }

  // What a person does

  line(text: string): void {
    if (this.#isOver) return
    if (this.#questions.isAsking) {
      this.#echo(this.#promptText(), text)
      this.#answer(text)
      if (!this.#questions.isAsking) this.#giveBackDraft()
      this.#draw()
    } else {
      // What was said before a question came is no answer to it; and what is said after a command waits for it.
      this.#before = this.#before.then(() => this.#do(text)).catch((error: unknown) => this.fail(error))
    }
  }

  async #do(text: string): Promise<void> {
    if (this.#isOver || text.trim() === '') return this.#draw()
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
    this.#draw()
  }

  note(text: string): void {
    this.screen.line(this.screen.paint.paint('yellow', text))
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
    } else if (this.#run !== undefined && !this.#isStopping) {
      this.#isStopping = true
      this.note('Stopping. Ctrl-C again leaves at once.')
      this.#run.abort()
    } else if (this.#run === undefined && this.#lines.typed.text !== '') {
      this.#lines.take()
      this.#draw()
    } else this.leave(130)
  }

  end(): void {
    if (this.#isOver) return
    this.#questions.denyAll('Nobody is there to be asked.')
    if (this.#run === undefined) this.leave(0)
    else this.#run.result.finally(() => this.leave(0)).catch(() => undefined)
  }

  leave(code = 0): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#questions.denyAll('The user has left.')
    this.assistant.agent.abort()
    this.#resolveEnd(code)
  }

  fail(error: unknown): void {
    this.screen.line(this.screen.paint.paint('red', errorLine(error)))
    this.#draw()
  }

  // Runs

  async #say(text: string): Promise<void> {
    try {
      const input = await withFiles(text, this.assistant.root)
      if (this.#isOver) return
      if (this.#run === undefined) {
        this.#echo('› ', text)
        this.begin(this.assistant.agent.send(input))
      } else this.#steer(this.#run, text, input)
    } catch (error) {
      this.fail(error)
    }
  }

  #steer(run: AgentRun, text: string, input: PromptInput): void {
    this.#echo('↪ ', text)
    const receipt = run.steer(input)
    receipt.settled.then(
      (status) => {
        if (status === 'delivered' || this.#isOver) return
        // The agent was done before it heard it: then it is the next thing said. After a stop it is the person's again.
        if (this.#lastStatus === 'completed') return void this.#say(text)
        this.note('The run ended before this was said; it is in your line again.')
        this.#lines.insert(text.replaceAll('\n', ' '))
      },
      (error: unknown) => this.fail(error),
    )
  }

  /** Follows a run to its end. */
  begin(run: AgentRun): void {
    this.#run = run
    this.#isStopping = false
    run.subscribe((event) => {
      this.#view.event(event)
      this.meter.event(event)
      if (event.type === 'approvalRequested' || event.type === 'inputRequested') this.#ask(run, event)
      else if (event.type === 'approvalResolved' || event.type === 'inputResolved' || event.type === 'agentEnd') this.#withdraw(event)
      if (event.type !== 'agentEnd') return
      this.#lastStatus = event.status
      // Whose session was taken over can only take it back.
      if (event.error?.cause?.code === 'conflict') this.note(takenOver(event.sessionId))
      this.#finish(run)
    })
    run.result
      .then(
        () => undefined,
        (error: unknown) => this.fail(error),
      )
      .finally(() => this.#finish(run))
    if (this.screen.isLive) this.#frames ??= setInterval(() => this.#draw(), frameMs)
    this.#draw()
  }

  #finish(run: AgentRun): void {
    if (this.#run !== run) return
    this.#run = undefined
    clearInterval(this.#frames)
    this.#frames = undefined
    this.#draw()
  }

  #ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): void {
    const isFirst = this.#questions.ask(run, event)
    // A yes must have been typed after the question was seen.
    if (isFirst) this.#draft ??= this.#lines.take()
    if (isFirst && !this.screen.isLive) this.note(this.#promptText())
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
    return `${this.meter.line(this.assistant.agent)} › `
  }

  #draw(): void {
    if (this.#isOver || !this.screen.isLive) return
    const { paint } = this.screen.paint
    const live: Painted[] = this.#run === undefined ? [] : this.#view.live(Date.now())
    const prompt = paint(this.#questions.isAsking ? 'yellow' : 'dim', this.#promptText())
    this.screen.show(live, { prompt, ...this.#lines.typed })
  }

  /** What was typed stays on the screen, where the terminal does not show it itself. */
  #echo(prompt: string, text: string): void {
    if (!this.screen.isLive) return
    const { paint, plain } = this.screen.paint
    const lines = text.split('\n')
    const shown = lines.length > 12 ? `${lines.slice(0, 10).join('\n')}\n… ${lines.length - 10} more lines` : text
    this.screen.line(joined(paint('green', prompt), plain(shown.slice(0, 4000))))
  }
}
