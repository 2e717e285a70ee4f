import { type EventOf, type JsonObject, textOf } from '../../../../src/index.ts'
import { duration } from '../repl/meter.ts'
import { joined, linesOf, type Painted, type Painter } from '../terminal/paint.ts'
import { cutTo } from '../terminal/text-width.ts'

type ToolEnd = EventOf<'toolExecutionEnd'>

/** Default maximum of result lines. */
const fewLines = 4

/** Summarizes a call in one line: its command or path, otherwise its arguments. */
export function subjectOf(args: JsonObject): string {
  const { command, path, pattern, task } = args
  const subject = [command, pattern, task, path].find((value) => typeof value === 'string')
  return typeof subject === 'string' ? (subject.split('\n', 1)[0] ?? '') : JSON.stringify(args)
}

/** Formats a finished call: outcome, duration, and the beginning of the result. */
export function callLines(
  call: { subject: string; ms?: number; shownLines?: number } & Pick<ToolEnd, 'toolName' | 'isError' | 'result'> &
    Partial<Pick<ToolEnd, 'outcome'>>,
  painter: Painter,
  width: number,
): Painted[] {
  const { paint, plain } = painter
  const { shownLines = fewLines } = call
  const color = call.outcome === 'unknown' ? 'yellow' : call.isError ? 'red' : undefined
  const mark = color === undefined ? paint('green', '✓ ') : paint(color, color === 'red' ? '✗ ' : '? ')
  const time = paint('dim', call.outcome === 'unknown' ? ' outcome unknown' : call.ms === undefined ? '' : ` ${duration(call.ms)}`)
  const head = cutTo(joined(mark, paint('bold', call.toolName), plain(' '), paint('cyan', call.subject)), width - 8)
  const text = textOf(call.result.content).trimEnd()
  const lines = text === '' ? [] : text.split('\n', shownLines + 1)
  const more = text.split('\n').length - shownLines
  const shown = lines.slice(0, shownLines).flatMap((line) => linesOf(paint(color ?? 'dim', `  ${line.slice(0, 1000)}`)))
  return [
    joined(head, time),
    ...shown.map((line) => cutTo(line, width)),
    ...(more > 0 ? [paint('dim', `  … ${more} more line${more === 1 ? '' : 's'}`)] : []),
  ]
}
