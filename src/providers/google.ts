/**
 * Gemini models, over the Gemini API or Vertex AI.
 *
 * ```ts
 * const model = google('gemini-3.1-pro', { apiKey })
 * ```
 *
 * @module
 */
export { type GoogleOptions, type GoogleProviderOptions, google, googleProvider, googleTools } from './google/index.ts'
export { type VertexOptions, type VertexProviderOptions, vertex, vertexProvider } from './vertex/index.ts'
