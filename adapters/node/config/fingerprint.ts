import { createHash, type Hash } from 'node:crypto'
import { constants, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type AgentConfig, trustRequests } from '../../../src/config/index.ts'

/** Bytes of one file that are looked at; of a larger one its size counts as well, and when it was changed. */
const maxBytes = 16 * 1024 * 1024

/**
 * SHA-256 of what a person says yes to: the text of an agent file and, where it needs trust, the directory that its paths are relative to, and every file
 * that the words of its scripts and servers name there. A tool of the agent, or another checkout, may have changed those; one that is not there
 * yet may be planted.
 */
export async function fingerprintOf(text: string, config: AgentConfig, root: string): Promise<string> {
  const hash = createHash('sha256').update(text)
  const requests = trustRequests(config)
  if (requests.length === 0) return hash.digest('hex')
  hash.update(`\0${realpathSync(root)}`)
  const words = requests.some(({ kind }) => kind === 'script' || kind === 'server') ? wordsOf(config) : []
  for (const word of words) {
    for (const place of placesOf(config)) await add(hash, resolve(root, place, word))
  }
  return hash.digest('hex')
}

/** What may name a file that is run: each word of a command, and the script after the name of an interpreter. */
function wordsOf({ callbacks, mcp, tools }: AgentConfig): Set<string> {
  const scripts = Object.values(callbacks ?? {}).filter((script) => typeof script === 'string')
  const servers = [...(mcp?.servers ?? []), ...(tools?.instances ?? []).map(({ config }) => config)]
  const commands = servers.flatMap((server) => [server?.command ?? '', ...(server?.args ?? []), ...Object.values(server?.env ?? {})])
  const parts = [...scripts, ...commands].flatMap((word) => [word, word.replace(/^\w+\s+/, ''), ...word.split(/[\s=]+/)])
  return new Set(parts.filter((word) => word !== ''))
}

function placesOf({ default_workspace, agent }: AgentConfig): Set<string> {
  const { profile, instances = [] } = agent ?? {}
  const sections = [agent, profile, ...(profile?.instances ?? []), ...instances, ...instances.map((each) => each.profile)]
  return new Set(['.', default_workspace ?? '.', ...sections.map((section) => section?.workspace ?? '.')])
}

async function add(hash: Hash, path: string): Promise<void> {
  hash.update(`\0${path}\0`)
  try {
    // A FIFO or device would never end.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) return
    const buffer = new Uint8Array(Math.min(stats.size, maxBytes))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    hash.update(`${stats.size}${stats.size > maxBytes ? ` ${stats.mtimeMs}` : ''}\0`).update(buffer.subarray(0, bytesRead))
  } catch {
    hash.update('no file')
  }
}
