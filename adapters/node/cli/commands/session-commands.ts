import { writeFile } from 'node:fs/promises'
import { isReport } from '../../../../src/contract/message/message.ts'
import { type AgentMessage, ConfigError, textOf } from '../../../../src/index.ts'
import { childrenOf, exportSession, type LoopRecord, rootLoops, type Session, SessionError } from '../../../../src/session.ts'
import { latestSessions, sessionLines } from '../assistant/latest-sessions.ts'
import { recordedLoops } from '../assistant/recorded-loops.ts'
import { showPast } from '../render/past-turns.ts'
import { shortCount } from '../repl/meter.ts'
import type { Command, CommandHost } from './command.ts'

/** `/session`: shows or names the session. */
export const session: Command = {
  argument: '[NAME]',
  help: 'show or name this session',
  isAnytime: true,
  async run({ assistant: { agent, sessions }, screen }, name) {
    if (name !== '') await stored(agent.rename(name))
    const place = sessions === undefined ? 'in memory; lost when you exit' : sessions
    screen.line(screen.paint.plain(`  ${agent.sessionId}, ${agent.messages.length} messages\n  ${place}`))
    if (name !== '') screen.line(screen.paint.plain(`  called ${name}`))
  },
}

/** `/clear`: starts a new session. */
export const clear: Command = {
  argument: '',
  help: 'start a new session; this one is kept',
  isAnytime: false,
  async run({ assistant, meter, screen }) {
    await assistant.renew()
    meter.begin(assistant.agent, [])
    screen.line(screen.paint.plain(`  new session ${assistant.agent.sessionId}`))
  },
}

/** `/resume`: lists sessions of this directory, or resumes one. */
export const resume: Command = {
  argument: '[NUMBER|ID]',
  help: 'list the sessions of this directory, or resume one',
  isAnytime: false,
  async run({ assistant, meter, screen }, wanted) {
    const { paint, plain } = screen.paint
    const sessions = await latestSessions(assistant.store, assistant.project)
    if (wanted === '') {
      if (sessions.length === 0) screen.line(paint('dim', '  none yet'))
      for (const line of sessionLines(sessions)) screen.line(plain(`  ${line}`))
      return
    }
    const numbered = /^\d{1,2}$/.test(wanted) ? sessions[Number(wanted) - 1]?.summary.sessionId : wanted
    if (numbered === undefined) throw new ConfigError('invalidOption', `Session ${wanted} is not in the list. /resume shows the list.`)
    const notes = await assistant.reopen(numbered)
    meter.begin(assistant.agent, await recordedLoops(assistant))
    showPast(assistant.agent.messages, screen)
    screen.line(plain(`  session ${assistant.agent.sessionId}, ${assistant.agent.messages.length} messages`))
    for (const note of notes) screen.line(paint('yellow', `  ${note}`))
  },
}

/** `/tree`: shows the loops of this session. */
export const tree: Command = {
  argument: '',
  help: 'show the loops and branches of this session',
  isAnytime: true,
  async run({ assistant: { agent, store }, screen }) {
    const whole = await stored(store.load(agent.sessionId))
    for (const line of treeOf(whole)) screen.line(screen.paint.plain(`  ${line}`))
  },
}

/** Formats loops in start order. Only branches are indented further. */
function treeOf(whole: Session): string[] {
  const lines: string[] = []
  const rest = rootLoops(whole)
    .reverse()
    .map((loop) => ({ loop, depth: 0 }))
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { loop, depth } = next
    lines.push(`${'  '.repeat(Math.min(depth, 20))}${depth > 0 ? '└ ' : ''}${loopLine(loop)}`)
    const children = childrenOf(whole, loop.loopId).reverse()
    const inner = children.length > 1 ? depth + 1 : depth
    rest.push(...children.map((child) => ({ loop: child, depth: inner })))
  }
  return lines
}

function loopLine({ status, turns, usage, messages, continuationKind }: LoopRecord): string {
  const prompt = messages.find(({ role }) => role === 'user')
  const kind = continuationKind.kind === 'initial' || continuationKind.kind === 'default' ? '' : `${continuationKind.kind}: `
  const count = `${turns.length} turn${turns.length === 1 ? '' : 's'}`
  return `${status}  ${count}  ${shortCount(usage.totalTokens)} tokens  ${kind}${prompt === undefined ? '' : firstLine(prompt)}`
}

/** `/export`: writes the session to a file, or prints it. */
export const exportTo: Command = {
  argument: '[FILE]',
  help: 'export the session as Markdown, or complete as .jsonl; without FILE print it',
  isAnytime: false,
  async run(host, path) {
    const text = await exported(host, path)
    if (path === '') {
      host.screen.data(host.screen.paintData.plain(text))
      return
    }
    await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      const why = error.code === 'EEXIST' ? 'it exists already' : (error.code ?? error.message)
      throw new ConfigError('invalidOption', `Cannot write ${path}: ${why}. Choose another file.`)
    })
    host.screen.line(host.screen.paint.plain(`  ${path}, ${text.length.toLocaleString('en')} characters`))
  },
}

async function exported({ assistant: { agent, store } }: CommandHost, path: string): Promise<string> {
  if (path.endsWith('.jsonl')) return stored(exportSession(store, agent.sessionId))
  return agent.messages
    .map(asMarkdown)
    .filter((text) => text !== '')
    .join('\n')
}

function asMarkdown(message: AgentMessage): string {
  if (message.role === 'user') return `## ${isReport(message) ? 'Background' : 'You'}\n\n${textOf(message.content)}\n`
  if (message.role === 'toolResult') return `${fenced(textOf(message.content))}\n`
  if (message.role !== 'assistant') return ''
  const parts = message.content.map((block) => {
    if (block.type === 'text') return `${block.text}\n`
    return block.type === 'toolCall' ? `\`${block.name}\` ${JSON.stringify(block.arguments)}\n` : ''
  })
  return `## phi\n\n${parts.filter((part) => part !== '').join('\n')}`
}

/** Wraps text in a fence longer than any fence that it contains. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

const firstLine = (message: AgentMessage): string =>
  message.role === 'user' ? (textOf(message.content).trim().split('\n', 1)[0] ?? '').slice(0, 80) : ''

/** Replaces `notFound` with a clearer error for a session without messages. */
async function stored<Value>(asked: Promise<Value>): Promise<Value> {
  return asked.catch((error: unknown) => {
    if (SessionError.isInstance(error) && error.code === 'notFound') {
      throw new ConfigError('invalidOption', 'This session is not stored yet. Send a message first.')
    }
    throw error
  })
}
