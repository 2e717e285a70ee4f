import { createInterface } from 'node:readline/promises'
import type { ReadStream } from 'node:tty'
import type { TrustRequest } from '../../../../src/config.ts'
import { escapeInvisible } from '../../../../src/store.ts'
import { isYes } from '../questions/call-question.ts'

const words: Readonly<Record<TrustRequest['kind'], string>> = {
  script: 'run the script',
  server: 'start the server',
  plugin: 'run the plugin',
  file: 'read',
  workspace: 'work in',
  endpoint: 'send messages and files to',
  media: 'fetch images and files from',
  variable: 'send, from the environment,',
}

/**
 * Prompts the user to trust an agent file, and explains why the decision is not stored. Returns `false` without a terminal, and for any
 * answer except yes.
 */
export async function askTrust(path: string, requests: readonly TrustRequest[], notRemembered: readonly string[]): Promise<boolean> {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY) return false
  const count = requests.length === 1 ? 'one thing' : `${requests.length} things`
  stderr.write(`${escapeInvisible(path)} wants ${count}:\n`)
  for (const [index, { kind, what, field }] of requests.entries())
    stderr.write(`  ${index + 1}. ${words[kind]} ${escapeInvisible(what)}  (${escapeInvisible(field)})\n`)
  stderr.write(`${summaryOf(requests)}\n`)
  if (notRemembered.length > 0) stderr.write('Your decision is not remembered, because not all loaded code is known:\n')
  for (const why of notRemembered) stderr.write(`  - ${escapeInvisible(why)}\n`)
  await forgetTyped(stdin)
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false })
  const left = new AbortController()
  // A closed terminal means no.
  terminal.on('close', () => left.abort())
  try {
    const answer = await terminal.question('Trust this file in its current state? [y/N] ', { signal: left.signal })
    return isYes(answer)
  } catch {
    stderr.write('\n')
    return false
  } finally {
    terminal.close()
  }
}

/** Summarizes a list: the number of requests, and how many run programs. Shown last, so it stays visible. */
function summaryOf(requests: readonly TrustRequest[]): string {
  const dangerous = requests.filter(({ kind }) => kind === 'script' || kind === 'server' || kind === 'plugin').length
  const all = `${requests.length} ${requests.length === 1 ? 'entry' : 'entries'} in all`
  if (dangerous === 0) return `${all}, none of which runs a program.`
  return `${all}, ${dangerous} of them dangerous: ${dangerous === 1 ? 'it runs a program' : 'they run programs'} with all your permissions.`
}

/** Milliseconds to wait for buffered terminal input. */
const handOverMs = 50

/** Discards input typed before the question, so that it cannot become the reply. */
async function forgetTyped(stdin: ReadStream): Promise<void> {
  const forget = () => undefined
  // Without raw mode, the terminal keeps an unfinished line, which would precede the reply.
  stdin.setRawMode(true)
  stdin.on('data', forget).resume()
  await new Promise((resolve) => setTimeout(resolve, handOverMs))
  // On a busy machine the timer can fire before the first read.
  await new Promise((resolve) => setImmediate(resolve))
  stdin.off('data', forget).pause()
  stdin.setRawMode(false)
}
