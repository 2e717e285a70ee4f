/** Thrown by a decoder for an error object inside a stream; `sendStreaming` classifies it. */
export class StreamRefusal extends Error {
  /** The error object as parsed JSON. */
  readonly body: unknown

  constructor(body: unknown) {
    super('error inside the stream')
    this.body = body
  }
}
