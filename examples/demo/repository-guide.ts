import { type ToolResultMessage, textOf } from 'phi-core'
import type { StreamRequest } from 'phi-core/provider-kit'
import type { ScriptedStep, ScriptedToolCall } from 'phi-core/providers/scripted'
import { type Counted, countFromGit, countFromReads, gitCommand, isListingWhole, listedFiles, typeScriptFiles } from './evidence.ts'

/**
 * The scripted model of the demo: a fixed plan whose every next step is computed from what the tools really returned. What a tool did not
 * show (a failed command, a truncated listing) is not claimed.
 */
export function repositoryGuide(request: StreamRequest): ScriptedStep {
  const question = textOf(request.messages.findLast((message) => message.role === 'user')?.content ?? [])
  const results = resultsSinceQuestion(request)
  return /typescript/i.test(question) ? tour(request, results) : lookUp(question, results)
}

type Results = readonly ToolResultMessage[]

function resultsSinceQuestion(request: StreamRequest): Results {
  const asked = request.messages.findLastIndex((message) => message.role === 'user')
  return request.messages.slice(asked).filter((message) => message.role === 'toolResult')
}

const of = (results: Results, toolName: string) => results.filter((result) => result.toolName === toolName)
const outputOf = (result: ToolResultMessage | undefined) => (result === undefined || result.isError ? '' : textOf(result.content))

/** List, search, read, count, answer. */
function tour(request: StreamRequest, results: Results): ScriptedStep {
  const [listing] = of(results, 'list_files')
  if (listing === undefined) {
    return { thinking: 'First see what is here.', text: 'I will look at the top of the repository.', toolCalls: [list('.', 1, '*')] }
  }
  const [search] = of(results, 'search')
  if (search === undefined) {
    return {
      text: 'Now I search for the place that ends every run.',
      toolCalls: [call('search', { pattern: "type: 'agentEnd'", path: 'src' })],
    }
  }
  const [read] = of(results, 'read_file')
  const path = firstPath(outputOf(search))
  if (read === undefined && path !== undefined) {
    return { text: `It is in ${path}; I read its beginning.`, toolCalls: [call('read_file', { path, limit: 12 })] }
  }
  return count(request, results)
}

/** Asks git in the sandbox; where that is not possible, counts by listing and reading. */
function count(request: StreamRequest, results: Results): ScriptedStep {
  const [bash] = of(results, 'bash')
  if (bash === undefined && request.tools.some((tool) => tool.name === 'bash')) {
    return {
      thinking: 'Only git knows what is tracked.',
      text: 'I ask git, in the sandbox.',
      toolCalls: [call('bash', { command: gitCommand })],
    }
  }
  const fromGit = countFromGit(outputOf(bash))
  if (fromGit !== undefined) return { text: answer(fromGit, 'tracked by git', results) }
  const listings = of(results, 'list_files').slice(1)
  if (listings.length === 0)
    return {
      text: 'I cannot ask git here, so I list the folders.',
      toolCalls: [list('.', 1, '*.ts*'), ...sourceFolders.flatMap((path) => namesFrom.map((letters) => list(path, 12, `${letters}*.ts*`)))],
      delayMs: 0,
    }
  const files = listings.flatMap((listing) => typeScriptFiles(listedFiles(outputOf(listing))))
  if (!listings.every((listing) => isListingWhole(outputOf(listing)))) {
    return { text: 'The listings were cut, so I cannot say how many TypeScript files there are, nor which is the largest.' }
  }
  const reads = of(results, 'read_file').slice(1)
  if (reads.length === 0)
    return {
      text: `${files.length} files: I ask for the length of each.`,
      toolCalls: files.map((path) => call('read_file', { path, limit: 1 })),
      delayMs: 0,
    }
  return {
    text: answer(countFromReads(files, reads.map(outputOf)), 'in the source folders (without a shell I cannot ask git itself)', results),
  }
}

/** A listing shows 200 files at most, so each folder is listed in parts, by first letter. */
const namesFrom = ['[!d-z]', '[d-h]', '[i-l]', '[m-q]', '[r-s]', '[t-z]']

/** Where the sources are; what is built or installed is left out. */
const sourceFolders = ['src', 'adapters', 'playground', 'test', 'e2e', 'examples', 'scripts']

function answer(counted: Counted, where: string, results: Results): string {
  const matches = outputOf(of(results, 'search')[0])
    .split('\n')
    .filter((line) => /^[^:]+:\d+:/.test(line)).length
  const kinds = counted.tsx > 0 ? ` (${counted.ts} .ts and ${counted.tsx} .tsx)` : ''
  const largest =
    counted.largest === undefined
      ? 'I could not tell which is the largest.'
      : `The largest is ${counted.largest.path} with ${counted.largest.lines} lines.`
  return `There are ${counted.ts + counted.tsx} TypeScript files ${where}${kinds}. ${largest} The search for the end of a run matched ${matches} line${matches === 1 ? '' : 's'} in src.`
}

/** Any other question: the longest word of it, looked up in the repository. */
function lookUp(question: string, results: Results): ScriptedStep {
  const word = question.match(/[\p{L}\p{N}_]+/gu)?.sort((a, b) => b.length - a.length)[0] ?? ''
  const [search] = of(results, 'search')
  if (search === undefined) {
    const text = `I am a script and do not understand questions. What I can do is look up the longest word of yours: "${word}".`
    return { text, toolCalls: [call('search', { pattern: word, path: 'src' })] }
  }
  const path = firstPath(outputOf(search))
  if (path === undefined) return { text: `No file in src contains "${word}".` }
  const [read] = of(results, 'read_file')
  if (read === undefined) return { text: `The first match is in ${path}.`, toolCalls: [call('read_file', { path, limit: 15 })] }
  return {
    text: `"${word}" stands in ${path}; above are its first lines. For a real answer set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server.`,
  }
}

/** The path of the first `path:line:text` line. */
function firstPath(output: string): string | undefined {
  return /^([^:\n]+):\d+:/m.exec(output)?.[1]
}

function list(path: string, maxDepth: number, pattern: string): ScriptedToolCall {
  return call('list_files', { path, max_depth: maxDepth, pattern })
}

function call(name: string, args: ScriptedToolCall['arguments']): ScriptedToolCall {
  return { name, arguments: args }
}
