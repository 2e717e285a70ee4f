import type { Chat } from '../../src/store/index.ts'

type PromptInput = Parameters<Chat['actions']['send']>[0]
type Said = Exclude<PromptInput, string> extends readonly (infer Message)[] ? Message : never

/** A message of words and files, as an agent takes it. */
export async function messageOf(words: string, files: readonly File[]): Promise<Said> {
  const media = await Promise.all(files.map(blockOf))
  const text = words.trim() === '' ? [] : [{ type: 'text' as const, text: words }]
  return { role: 'user', content: [...text, ...media], timestamp: Date.now() } as Said // what a message of a user is
}

async function blockOf(file: File) {
  const data = await base64Of(file)
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type
  return mimeType.startsWith('image/') ? { type: 'image', mimeType, data } : { type: 'file', mimeType, data, name: file.name }
}

function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
