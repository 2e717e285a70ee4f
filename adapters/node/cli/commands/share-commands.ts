import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { isMedia } from '../../../../src/contract/message/content.ts'
import { nameByType } from '../../../../src/contract/message/media.ts'
import { type AgentMessage, ConfigError, type FileContent, type ImageContent } from '../../../../src/index.ts'
import { messagesWithBytes } from '../../../../src/session.ts'
import type { Command } from './command.ts'

/** `/open`: this session in a page; both go on with it. */
export const open: Command = {
  argument: '',
  help: 'go on in a page on this machine as well, with this session',
  isAnytime: true,
  async run({ assistant, screen }) {
    if (assistant.served === undefined) {
      const { serveAgent } = await import('../serve/serve-agent.ts')
      assistant.served = await serveAgent(assistant, { port: 0, logger: silent })
      await assistant.served.share(assistant.agent)
    }
    screen.line(screen.paint.plain(`  ${assistant.served.link(assistant.agent.sessionId)}`))
    screen.say(
      'dim',
      '  Open it in a browser on this machine; whoever has the link may do what you may. What is said there is said here too.',
    )
  },
}

const silent = { warn: () => undefined }

/** `/save`: the pictures and files of the last answer that has some, in the directory phi was opened in. */
export const save: Command = {
  argument: '[FILE]',
  help: 'write the pictures and files of the last answer',
  isAnytime: true,
  async run({ assistant: { agent, store }, screen }, path) {
    const last = agent.messages.findLast((message) => hasMedia(message))
    const media = inlineMedia(await messagesWithBytes(store, agent.sessionId, last === undefined ? [] : [last]))
    if (media.length === 0) throw new ConfigError('invalidOption', 'No answer has a picture or a file whose bytes are here.')
    if (path !== '' && media.length > 1)
      throw new ConfigError('invalidOption', `The answer has ${media.length} pictures and files: leave ${path} out, and each gets a name.`)
    for (const [at, block] of media.entries()) {
      const name = path === '' ? safeName(block, at + 1) : path
      await writeFile(name, Buffer.from(block.data, 'base64'), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
        const why = error.code === 'EEXIST' ? 'it exists already' : (error.code ?? error.message)
        throw new ConfigError('invalidOption', `${name} cannot be written: ${why}. Say /save FILE, or move it away.`)
      })
      screen.line(screen.paint.plain(`  ${name}, ${block.mimeType}`))
    }
  },
}

type Inline = (ImageContent | FileContent) & { data: string }

/** Whether its bytes are here, in the history or beside it. */
function hasMedia(message: AgentMessage): boolean {
  return message.role === 'assistant' && message.content.some((block) => isMedia(block) && (block.data ?? block.blob) !== undefined)
}

function inlineMedia(messages: readonly AgentMessage[]): Inline[] {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  return blocks.flatMap((block) => (isMedia(block) && block.data !== undefined ? [{ ...block, data: block.data }] : []))
}

/** A model names files: the name alone, of plain characters, and never a hidden file. */
function safeName(block: Inline, number: number): string {
  const given = block.type === 'file' && block.name !== undefined ? basename(block.name.replaceAll('\\', '/')) : ''
  const plain = given
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[._]+/, '')
    .slice(0, 100)
  return plain === '' ? nameByType(`${block.type === 'image' ? 'picture' : 'file'}-${number}`, block.mimeType) : plain
}
