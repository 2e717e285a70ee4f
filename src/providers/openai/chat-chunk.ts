/** What the registry, and agent files, load of Chat Completions as one chunk. */
export { compatPresets } from './backends.ts'
export { openaiCompatible } from './compatible.ts'
export { openAiProvider, openai } from './provider.ts'
