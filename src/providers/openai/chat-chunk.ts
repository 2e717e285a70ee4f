/** Lazy chunk with Chat Completions, for the registry and agent files. */
export { compatPresets } from './backends.ts'
export { openaiCompatible } from './compatible.ts'
export { openAiProvider, openai } from './provider.ts'
