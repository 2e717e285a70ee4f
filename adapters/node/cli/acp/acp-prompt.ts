import type { ContentBlock, EmbeddedResource } from '@agentclientprotocol/sdk'
import { ConfigError, type ImageContent, imageContent, type PromptInput, type TextContent } from '../../../../src/index.ts'

/** What a person says in an editor, as a prompt: text, pictures, files that it names or has put in. Rejects with `ConfigError` for what the model cannot be sent. */
export async function promptFrom(blocks: readonly ContentBlock[]): Promise<PromptInput> {
  const content = await Promise.all(blocks.map(blockFrom))
  const [only] = content
  if (content.length === 1 && only?.type === 'text') return only.text
  return { role: 'user', content, timestamp: Date.now() }
}

async function blockFrom(block: ContentBlock): Promise<TextContent | ImageContent> {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image') return imageContent(Buffer.from(block.data, 'base64'), { mimeType: block.mimeType })
  if (block.type === 'resource_link') return { type: 'text', text: `[${block.name}](${block.uri})` }
  if (block.type === 'resource') return { type: 'text', text: embedded(block) }
  throw new ConfigError('invalidOption', 'Sound cannot be sent to this agent.')
}

/** A file that the editor has put in, marked with where it is from. */
function embedded({ resource }: EmbeddedResource): string {
  if (!('text' in resource)) throw new ConfigError('invalidOption', `${resource.uri} is no text; name the file instead.`)
  return `<file uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</file>`
}
