import type { InputRequestedEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentEvent, AgentRun, PromptInput, RunResult } from '../../../../src/index.ts'
import { asEmitted } from '../../../../src/internal.ts'
import type { ApprovalRequestedEvent } from '../../../../src/loop.ts'
import type { Assistant } from '../assistant/assistant.ts'
import { OneShots } from '../assistant/latest-sessions.ts'
import { codeOf, stopSignals } from '../endings.ts'
import { askClient, Questions } from '../questions/questions.ts'
import { loadColours } from '../render/markdown.ts'
import { RunView } from '../render/run-view.ts'
import { editedLines } from '../terminal/line-editor.ts'
import type { LineSource } from '../terminal/line-source.ts'
import type { Painted } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'

/** Options for `printAnswer`. */
export interface PrintOptions {
  assistant: Assistant
  screen: Screen
  prompt: PromptInput
  isJson: boolean
}

/** Runs one prompt and prints the response. Resolves with the exit code: 0 completed, 1 not completed, 130 interrupted. */
export async function printAnswer({ assistant, screen, prompt, isJson }: PrintOptions): Promise<number> {
  const approvals = new ApprovalPrompt(screen, assistant)
  if (assistant.agent.messages.length === 0 && assistant.project !== undefined)
    new OneShots(assistant.project.oneShots).add(assistant.agent.sessionId)
  if (!isJson && screen.showsData) await loadColours(screen.paintData)
  const run = assistant.agent.send(prompt)
  let signalled = 0
  const stop = (signal: (typeof stopSignals)[number]) => {
    if (signalled > 0) process.exit(signalled)
    signalled = codeOf[signal]
    run.abort()
  }
  for (const signal of stopSignals) process.on(signal, stop)
  for (const note of assistant.notes) screen.line(screen.paint.paint('yellow', note))
  const view = isJson ? undefined : new RunView(screen)
  const frames = view !== undefined && screen.isLive ? setInterval(() => approvals.draw(view.live(Date.now())), 80) : undefined
  try {
    run.subscribe((event) => {
      if (isJson) screen.data(jsonLine(event))
      else view?.event(event)
      approvals.event(run, event)
    })
    const result = await run.result
    if (!isJson && !screen.showsData) screen.data(answerOf(result, screen))
    if (signalled > 0) return signalled
    return result.status === 'completed' ? 0 : result.status === 'aborted' ? 130 : 1
  } finally {
    clearInterval(frames)
    approvals.close()
    screen.close()
    for (const signal of stopSignals) process.off(signal, stop)
  }
}

function answerOf({ text }: RunResult, { paintData }: Screen): Painted {
  return paintData.plain(text === '' || text.endsWith('\n') ? text : `${text}\n`)
}

/** Matches control and invisible characters, which are escaped so that JSON lines cannot move the cursor. */
const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029\p{Co}\p{Cn}]/gu

/** Encodes an event as a line of JSON. */
function jsonLine(event: AgentEvent): Painted {
  const text = JSON.stringify(asEmitted(event)).replace(unsafe, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
  return `${text}\n` as Painted // contains only visible characters
}

/** Prompts the user for approvals and input if there is a terminal. */
class ApprovalPrompt {
  readonly #screen: Screen
  readonly #questions: Questions
  #lines: LineSource | undefined
  #live: readonly Painted[] = []

  constructor(screen: Screen, { permissions, files, agent }: Assistant) {
    this.#screen = screen
    const tools = () => agent.settings.tools ?? []
    this.#questions = new Questions({ screen, permissions, files, tools, onShown: () => this.#shown() })
  }

  event(run: AgentRun, event: AgentEvent): void {
    if (event.type === 'approvalRequested' || event.type === 'inputRequested') this.#ask(run, event)
    else if (event.type === 'clientCallRequested') askClient(run, event, { screen: this.#screen, hasWebApp: false })
    else if (event.type === 'approvalResolved' || event.type === 'inputResolved' || event.type === 'agentEnd')
      this.#questions.withdraw(event)
    else return
    if (!this.#questions.isAsking) this.close()
    this.draw(this.#live)
  }

  draw(live: readonly Painted[]): void {
    this.#live = live
    const { typed } = this.#lines ?? {}
    const prompt = this.#screen.paint.paint('yellow', this.#questions.prompt)
    this.#screen.show(live, typed && { prompt, ...typed })
  }

  close(): void {
    this.#lines?.close()
    this.#lines = undefined
    this.#screen.show(this.#live, undefined)
  }

  #ask(run: AgentRun, event: ApprovalRequestedEvent | InputRequestedEvent): void {
    if (event.type === 'inputRequested' && !this.#hasTerminal) {
      this.#screen.line(this.#screen.paint.paint('yellow', `${event.toolName} requested input. Declined, because there is no terminal.`))
      run.answer(event, { action: 'decline' })
      return
    }
    this.#questions.ask(run, event)
  }

  /** Reads the reply from the terminal, or denies the call if there is no terminal. */
  #shown(): void {
    const { stdin, stderr } = process
    if (this.#lines !== undefined) {
      this.draw(this.#live)
      return
    }
    if (!this.#hasTerminal) {
      this.#questions.denyAll('No user is available to approve.')
      this.#screen.line(
        this.#screen.paint.paint(
          'yellow',
          'Denied, because there is no terminal to approve it. Use --yes to allow all calls, or --mode edits to allow file changes.',
        ),
      )
      return
    }
    const denyAll = () => this.#questions.denyAll('No user is available to approve.')
    this.#lines = editedLines(stdin, stderr, {
      line: (text) => this.#answered(() => this.#questions.answer(text)),
      change: () => this.draw(this.#live),
      escape: () => this.#answered(() => this.#questions.dismiss()),
      interrupt: () => this.#answered(() => this.#questions.dismiss() || process.emit('SIGINT', 'SIGINT')),
      end: denyAll,
      note: (text) => this.#screen.line(this.#screen.paint.paint('yellow', text)),
    })
    this.draw(this.#live)
  }

  get #hasTerminal(): boolean {
    return process.stdin.isTTY && this.#screen.isLive
  }

  #answered(act: () => void): void {
    act()
    if (this.#questions.isAsking) this.draw(this.#live)
    else this.close()
  }
}
