import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { isMedia } from '../../../../src/contract/message/content.ts'
import { nameByType } from '../../../../src/contract/message/media.ts'
import { type AgentMessage, ConfigError, type FileContent, type ImageContent } from '../../../../src/index.ts'
import { messagesWithBytes } from '../../../../src/session.ts'
import type { Command } from './command.ts'

/** `/open`: opens this session in the browser. The terminal and the browser share it. */
export const open: Command = {
  argument: '',
  help: 'open this session in the browser too',
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
      '  Open the link in a browser on this machine. Everyone with the link has your rights. Both views share this session.',
    )
  },
}

const silent = { warn: () => undefined }

/** `/save`: saves media to the working directory, from the last response that contains any. */
export const save: Command = {
  argument: '[FILE]',
  help: 'save the images and files of the last response',
  isAnytime: true,
  async run({ assistant: { agent, store }, screen }, path) {
    const last = agent.messages.findLast((message) => hasMedia(message))
    const media = inlineMedia(await messagesWithBytes(store, agent.sessionId, last === undefined ? [] : [last]))
    if (media.length === 0) throw new ConfigError('invalidOption', 'No response has an image or a file to save.')
    if (path !== '' && media.length > 1)
      throw new ConfigError(
        'invalidOption',
        `The response has ${media.length} images and files. Omit ${path}: each file gets its own name.`,
      )
    for (const [at, block] of media.entries()) {
      const name = path === '' ? safeName(block, at + 1) : path
      await writeFile(name, Buffer.from(block.data, 'base64'), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
        const why = error.code === 'EEXIST' ? 'it exists already' : (error.code ?? error.message)
        throw new ConfigError('invalidOption', `Cannot write ${name}: ${why}. Use /save FILE, or move the existing file.`)
      })
      screen.line(screen.paint.plain(`  ${name}, ${block.mimeType}`))
    }
  },
}

type Inline = (ImageContent | FileContent) & { data: string }

/** Returns whether the message has media whose bytes are available. */
function hasMedia(message: AgentMessage): boolean {
  return message.role === 'assistant' && message.content.some((block) => isMedia(block) && (block.data ?? block.blob) !== undefined)
}

function inlineMedia(messages: readonly AgentMessage[]): Inline[] {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  return blocks.flatMap((block) => (isMedia(block) && block.data !== undefined ? [{ ...block, data: block.data }] : []))
}

/** Sanitizes a model's file name: no directory, only plain characters, and never a hidden file. */
function safeName(block: Inline, number: number): string {
  const given = block.type === 'file' && block.name !== undefined ? basename(block.name.replaceAll('\\', '/')) : ''
  const plain = given
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[._]+/, '')
    .slice(0, 100)
  return plain === '' ? nameByType(`${block.type === 'image' ? 'picture' : 'file'}-${number}`, block.mimeType) : plain
}
