import { mediaName } from '../../../../src/contract/message/block-words.ts'
import { isMedia } from '../../../../src/contract/message/content.ts'
import { mediaBytes } from '../../../../src/contract/message/media.ts'
import type { BackgroundEndEvent, BackgroundStartEvent, ToolExecutionEndEvent } from '../../../../src/contract/run/call-event.ts'
import type { AgentEndEvent, MessageEndEvent } from '../../../../src/contract/run/event.ts'
import { type AgentEvent, type Content, type RunStatus, type ServiceToolContent, textOf } from '../../../../src/index.ts'
import { type Source, sourcesOf } from '../../../../src/store.ts'
import { duration, shortCount } from '../repl/meter.ts'
import { joined, type Painted, type Painter, type Style } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'
import { callLines, subjectOf } from './call-lines.ts'
import { DataLines } from './data-lines.ts'
import { MarkdownLines } from './markdown.ts'

/** Returns lines for a response's attachments: media by name, and numbered sources. */
function attachmentLines(content: readonly Content[], { paint, plain }: Painter): Painted[] {
  const media = content.flatMap((block) => {
    if (!isMedia(block)) return []
    const isKept = (block.data ?? block.blob) !== undefined
    const where = isKept ? `${shortCount(mediaBytes(block))} bytes; /save writes it to a file` : (block.url ?? 'stored by the provider')
    return [joined(paint('cyan', `▣ ${mediaName(block)}`), paint('dim', `  ${where}`))]
  })
  const sources = sourcesOf(content).map((source, at) =>
    joined(paint('cyan', `[${at + 1}] `), plain(source.title), paint('dim', `  ${placeOf(source)}`)),
  )
  return [...media, ...sources]
}

/** Returns a source's host and URL, or its locations in the document. */
function placeOf({ url, host, citations }: Source): string {
  if (url !== undefined) return `${host} · ${url}`
  const places = citations.flatMap(({ document }) =>
    document === undefined ? [] : [document.unit === 'page' ? `p. ${document.start}` : `${document.unit} ${document.start}`],
  )
  return [...new Set(places)].slice(0, 8).join(', ')
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Maximum lines of an expanded result. */
const mostOpened = 2000

/** A running call. */
interface RunningCall {
  toolName: string
  subject: string
  startedAt: number
  /** The call's latest status line. */
  latest: string
}

/**
 * Renders run events on a screen. Finished parts are permanent. Current parts are in the live area.
 *
 * If standard output is not a terminal, it receives only the response, written by `end`.
 */
export class RunView {
  readonly #screen: Screen
  readonly #markdown: MarkdownLines
  readonly #calls = new Map<string, RunningCall>()
  /** Background tasks by id. */
  readonly #background = new Map<string, RunningCall>()
  readonly #data = new DataLines()
  #thinking = ''
  #thoughtSince: number | undefined
  #startedAt = 0
  #turns = 0
  #hasText = false
  /** Whether a requested compaction has not compacted anything yet. */
  #isCompacting = false
  /** Calls with a pending question. */
  #waiting = 0
  /** The last truncated result. */
  #folded: { toolName: string; text: string } | undefined

  constructor(screen: Screen) {
    this.#screen = screen
    this.#markdown = new MarkdownLines(screen.paintData, () => screen.width)
  }

  event(event: AgentEvent): void {
    if (event.type === 'approvalRequested') this.#waiting += 1
    if (event.type === 'approvalResolved') this.#waiting -= 1
    if (event.type === 'agentStart') this.#begin(event.at, event.continuationKind.kind === 'compaction')
    else if (event.type === 'turnStart') this.#turns += 1
    else if (event.type === 'messageUpdate') {
      if (event.delta.type === 'text') this.#text(event.delta.delta, event.at)
      else if (event.delta.type === 'thinking') this.#think(event.delta.delta, event.at)
      else if (event.delta.type === 'block' && event.delta.block.type === 'serviceTool') this.#serviceTool(event.delta.block, event.at)
    } else if (event.type === 'messageEnd') this.#messageEnd(event)
    else if (event.type === 'toolExecutionStart') {
      const { toolName, args, at, toolCallId } = event
      this.#calls.set(toolCallId, { toolName, subject: subjectOf(args), startedAt: at, latest: '' })
    } else if (event.type === 'toolExecutionUpdate') this.#latest(event.toolCallId, lastLineOf(textOf(event.partialResult.content)))
    else if (event.type === 'progressMessage') this.#latest(event.toolCallId, event.text)
    else if (event.type === 'toolExecutionEnd') this.#callEnd(event)
    else if (event.type === 'data') this.#data.add(event)
    else if (event.type === 'turnEnd') this.#showData(undefined)
    else if (event.type === 'backgroundStart') this.#backgroundBegins(event)
    else if (event.type === 'backgroundEnd') this.#backgroundEnds(event)
    else if (event.type === 'agentEnd') this.#end(event)
    else this.#note(event)
  }

  /** Shows the last truncated result in full. */
  open(): void {
    const { paint } = this.#screen.paint
    if (this.#folded === undefined) return
    const { toolName, text } = this.#folded
    this.#folded = undefined
    const lines = text.split('\n')
    this.#screen.line(paint('bold', `${toolName}, ${lines.length} lines:`))
    for (const line of lines.slice(0, mostOpened)) this.#screen.line(paint('dim', `  ${line.slice(0, 4000)}`))
    if (lines.length > mostOpened) this.#screen.line(paint('yellow', `  … ${lines.length - mostOpened} more lines`))
  }

  /** Returns the live area at the time `now`. */
  live(now: number): Painted[] {
    const { paint, plain } = this.#screen.paint
    const turn = spinner[Math.floor(now / 80) % spinner.length] ?? ''
    const lines: Painted[] = this.#screen.showsData ? [...this.#markdown.pending()] : []
    if (this.#thoughtSince !== undefined) {
      const tail = this.#thinking.trimEnd().split('\n').slice(-3)
      lines.push(...tail.map((line) => paint(['dim', 'italic'], `  ${line}`)))
    }
    for (const [id, { toolName, subject, startedAt, latest }] of [...this.#calls, ...this.#background]) {
      const time = paint('dim', ` ${duration(now - startedAt)}`)
      lines.push(joined(paint('yellow', `${turn} `), paint('bold', toolName), time, plain(' '), paint('cyan', subject)))
      if (latest !== '') lines.push(paint('dim', `  ${latest}`))
      lines.push(...this.#data.newest(id, this.#screen.paint, this.#screen.width).map((line) => joined(plain('  '), line)))
    }
    if (this.#calls.size + this.#background.size === 0) {
      const what = this.#waiting > 0 ? 'waiting for you' : this.#thoughtSince === undefined ? 'working' : 'thinking'
      lines.push(joined(paint('yellow', `${turn} `), paint('dim', `${what} ${duration(now - this.#startedAt)}`)))
    }
    return lines
  }

  #begin(at: number, isCompaction: boolean): void {
    this.#isCompacting = isCompaction
    this.#startedAt = at
    this.#turns = 0
    this.#hasText = false
    this.#waiting = 0
    this.#calls.clear()
    this.#background.clear()
    this.#data.clear()
    this.#endThought(at)
  }

  #text(delta: string, at: number): void {
    this.#endThought(at)
    if (!this.#screen.showsData) return
    for (const line of this.#markdown.push(delta)) this.#dataLine(line)
  }

  /** An empty line separates the response from earlier output. */
  #dataLine(line: Painted): void {
    if (!this.#hasText && line.trim() === '') return
    this.#hasText = true
    this.#screen.data(`${line}\n` as Painted) // with our own line break
  }

  #think(delta: string, at: number): void {
    this.#thoughtSince ??= at
    // Show only the beginning and the last lines.
    if (this.#thinking.length < 20_000) this.#thinking += delta
  }

  #endThought(at: number): void {
    if (this.#thoughtSince === undefined) return
    const { paint } = this.#screen.paint
    const first = this.#thinking.trim().replace(/\s+/g, ' ').slice(0, 400)
    const width = this.#screen.width - 20
    const shown = first.length > width ? `${first.slice(0, width - 1)}…` : first
    this.#screen.line(joined(paint('dim', `∴ thought ${duration(at - this.#thoughtSince)}  `), paint(['dim', 'italic'], shown)))
    this.#thoughtSince = undefined
    this.#thinking = ''
  }

  #messageEnd({ message, at }: MessageEndEvent): void {
    if (message.role !== 'assistant') return
    this.#endThought(at)
    for (const line of this.#markdown.end()) this.#dataLine(line)
    this.#hasText = false
    // Text before a tool call is not part of the response.
    const isOnTheWay = message.stopReason === 'toolUse' && !this.#screen.showsData
    const text = isOnTheWay ? textOf(message.content).trim() : ''
    if (text !== '') this.#screen.line(this.#screen.paint.paint('dim', text))
    for (const block of message.content) if (block.type === 'serviceTool') this.#calls.delete(block.id)
    for (const line of attachmentLines(message.content, this.#screen.paint)) this.#screen.line(line)
  }

  /** A provider-executed call. */
  #serviceTool({ id, name, input, status, output, error }: ServiceToolContent, at: number): void {
    const subject = subjectOf(Object(input ?? {})) // any JSON
    if (status === 'running') {
      if (!this.#calls.has(id)) this.#calls.set(id, { toolName: name, subject, startedAt: at, latest: 'run by the provider' })
      return
    }
    const text = error?.message ?? error?.code ?? (typeof output === 'string' || output === undefined ? output : JSON.stringify(output))
    const result = { content: [{ type: 'text' as const, text: text ?? '' }] }
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    const shown = { toolName: name, subject, ms: at - (call?.startedAt ?? at), isError: status === 'failed', result }
    for (const line of callLines(shown, this.#screen.paint, this.#screen.width)) this.#screen.line(line)
  }

  #latest(toolCallId: string, text: string): void {
    const call = this.#calls.get(toolCallId)
    if (call !== undefined && text !== '') call.latest = text.slice(0, 500)
  }

  #callEnd(event: ToolExecutionEndEvent): void {
    const { toolCallId, at } = event
    const call = this.#calls.get(toolCallId)
    this.#calls.delete(toolCallId)
    const { subject = '', startedAt = at } = call ?? {}
    const text = textOf(event.result.content).trimEnd()
    this.#folded = { toolName: event.toolName, text }
    const lines = callLines({ ...event, subject, ms: at - startedAt }, this.#screen.paint, this.#screen.width)
    for (const line of lines) this.#screen.line(line)
    this.#showData(toolCallId)
  }

  #showData(toolCallId: string | undefined): void {
    for (const line of this.#data.take(toolCallId, this.#screen.paint, this.#screen.width)) this.#screen.line(line)
  }

  #backgroundBegins({ backgroundId, task, at }: BackgroundStartEvent): void {
    this.#background.set(backgroundId, { toolName: backgroundId, subject: task.slice(0, 500), startedAt: at, latest: 'in the background' })
  }

  #backgroundEnds({ backgroundId, result, isError, at }: BackgroundEndEvent): void {
    const { subject = '', startedAt = at } = this.#background.get(backgroundId) ?? {}
    this.#background.delete(backgroundId)
    const shown = { toolName: backgroundId, subject, ms: at - startedAt, isError, result }
    for (const line of callLines(shown, this.#screen.paint, this.#screen.width)) this.#screen.line(line)
  }

  #note(event: AgentEvent): void {
    const say = (style: Style, text: string) => this.#screen.line(this.#screen.paint.paint(style, text))
    if (event.type === 'providerRetry') say('yellow', `${event.error.message} Retrying in ${duration(event.delayMs)}.`)
    else if (event.type === 'inputRejected') say('yellow', `Refused: ${event.reason}`)
    else if (event.type === 'approvalResolved' && !event.approved) say('yellow', `✗ ${event.toolName} was denied`)
    else if (event.type === 'compactionEnded') {
      this.#isCompacting = false
      const { messagesBefore, messagesAfter, estimatedTokensBefore, estimatedTokensAfter, error } = event
      const figures = `${messagesBefore} messages → ${messagesAfter}, ${shortCount(estimatedTokensBefore)} tokens → ${shortCount(estimatedTokensAfter)}`
      say('yellow', error === undefined ? `┄ compacted: ${figures}` : `┄ not compacted: ${error.message}`)
    } else if (event.type === 'prunApplied')
      say('yellow', `┄ pruned ${event.messagesRemoved} messages, ${shortCount(event.tokensRemoved)} tokens`)
    else if (event.type === 'revertApplied' && event.applied) say('yellow', `┄ reverted to node ${event.target}`)
  }

  #end({ status, error, limit, rejection, at, totalUsage, usage }: AgentEndEvent): void {
    this.#endThought(at)
    this.#showData(undefined)
    if (this.#isCompacting && status === 'completed') {
      this.#screen.line(this.#screen.paint.paint('dim', '┄ nothing to compact: too few turns'))
      return
    }
    const turns = `${this.#turns} turn${this.#turns === 1 ? '' : 's'}`
    const tokens = `${shortCount((totalUsage ?? usage).totalTokens)} tokens`
    const why = error?.message ?? rejection ?? (limit === undefined ? '' : `Limit reached: ${limit.reason}.`)
    const { paint } = this.#screen.paint
    const shown = `[${wordFor(status)} · ${turns} · ${tokens} · ${duration(at - this.#startedAt)}]`
    this.#screen.line(joined(paint(status === 'completed' ? 'dim' : 'red', shown), paint('red', why === '' ? '' : ` ${why}`)))
  }
}

const words: Partial<Record<RunStatus, string>> = { completed: 'done', limit: 'stopped', error: 'failed' }
const wordFor = (status: RunStatus): string => words[status] ?? status

function lastLineOf(text: string): string {
  const whole = text.trimEnd()
  return whole.slice(whole.lastIndexOf('\n') + 1)
}
