import { type JsonObject, type ToolResult, textOf } from '../../../../src/index.ts'
import { joined, linesOf, type Painted, type Painter } from '../terminal/paint.ts'
import { cutTo } from '../terminal/text-width.ts'
import { duration } from './figures.ts'

/** Lines of a result that are shown. */
const shownLines = 4

/** What says in one line what a call is about: the command, the path, else its arguments. */
export function subjectOf(args: JsonObject): string {
  const { command, path, pattern, task } = args
  const subject = [command, pattern, task, path].find((value) => typeof value === 'string')
  return typeof subject === 'string' ? (subject.split('\n', 1)[0] ?? '') : JSON.stringify(args)
}

/** A call that is over: how it ended, how long it took, and the beginning of what it gave. */
export function callLines(
  call: { toolName: string; subject: string; ms: number; isError: boolean; result: ToolResult },
  painter: Painter,
  width: number,
): Painted[] {
  const { paint, plain } = painter
  const mark = call.isError ? paint('red', '✗ ') : paint('green', '✓ ')
  const time = paint('dim', ` ${duration(call.ms)}`)
  const head = cutTo(joined(mark, paint('bold', call.toolName), plain(' '), paint('cyan', call.subject)), width - 8)
  const text = textOf(call.result.content).trimEnd()
  const lines = text === '' ? [] : text.split('\n', shownLines + 1)
  const more = text.split('\n').length - shownLines
  const shown = lines.slice(0, shownLines).flatMap((line) => linesOf(paint(call.isError ? 'red' : 'dim', `  ${line.slice(0, 1000)}`)))
  return [
    joined(head, time),
    ...shown.map((line) => cutTo(line, width)),
    ...(more > 0 ? [paint('dim', `  … ${more} more line${more === 1 ? '' : 's'}`)] : []),
  ]
}
