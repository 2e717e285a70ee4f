import type { ModelConfig } from '../../../../contract/model/model-config.ts'

/** A provider's limits for one image or PDF in a request. An absent limit is unknown. */
export interface MediaLimits {
  /** Maximum bytes of an image. */
  imageBytes?: number
  /** Maximum pixels of an image's longer side. */
  imageSide?: number
  /** Maximum pixels of the longer side in a request with more than `above` images. */
  manyImages?: { above: number; imageSide: number }
  /** Maximum pixels of an image, width times height. */
  imagePixels?: number
  pdfPages?: number
  pdfBytes?: number
  /** Maximum base64 characters of all media in a request. */
  inlineChars?: number
}

const mebibyte = 1024 * 1024

/** Converts a number of base64 characters to bytes, because some providers limit characters. */
function asBase64(characters: number): number {
  return Math.floor(characters / 4) * 3
}

// 5 MB, counted in base64, 8000 px, 2000 px above 20 pictures: platform.claude.com/docs/en/build-with-claude/vision
// Pages: platform.claude.com/docs/en/build-with-claude/pdf-support
const claude: MediaLimits = {
  imageBytes: asBase64(5 * mebibyte),
  imageSide: 8000,
  manyImages: { above: 20, imageSide: 2000 },
  pdfPages: 600,
}
/** Models with a smaller context window accept fewer pages. See the source above. */
const smallWindow = 200_000
const smallClaude: MediaLimits = { ...claude, pdfPages: 100 }
// docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html and …/userguide/conversation-inference-call.html
const bedrock: MediaLimits = { imageBytes: 3.75 * mebibyte, imageSide: 8000 }
// ai.google.dev/gemini-api/docs/document-processing
const googlePdf: MediaLimits = { pdfPages: 1000, pdfBytes: 50 * mebibyte }
// 100 MB, "base64 encoded": blog.google/innovation-and-ai/technology/developers-tools/gemini-api-new-file-limits, 2026-01
const gemini: MediaLimits = { ...googlePdf, inlineChars: 100 * mebibyte }
// docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding and …/document-understanding
const vertex: MediaLimits = { ...googlePdf, imageBytes: 7 * mebibyte }
// developers.openai.com/api/docs/guides/file-inputs
const openai: MediaLimits = { pdfBytes: 50 * mebibyte }
// console.groq.com/docs/vision: 4 MB of base64, 33 megapixels
const groq: MediaLimits = { imageBytes: asBase64(4 * mebibyte), imagePixels: 33_177_600 }
// docs.x.ai/docs/guides/image-understanding
const xai: MediaLimits = { imageBytes: 20 * mebibyte }

/** Limits by protocol and provider. Other providers of the same models or protocol have different limits. */
const table: Readonly<Record<string, MediaLimits>> = {
  'anthropicMessages anthropic': claude,
  'bedrockConverseStream bedrock': bedrock,
  'googleGenerativeAi google': gemini,
  'googleVertex vertex': vertex,
  'openAiCompletions openai': openai,
  'openAiResponses openai': openai,
  'openAiCompletions groq': groq,
  'openAiCompletions xai': xai,
  'openAiResponses xai': xai,
}

const unknown: MediaLimits = {}

/** Returns the provider's documented limits for `model`. */
export function mediaLimits({ api, provider, contextWindow }: ModelConfig): MediaLimits {
  const known = table[`${api} ${provider}`] ?? unknown
  return known === claude && contextWindow <= smallWindow ? smallClaude : known
}
