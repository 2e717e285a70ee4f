/** What a call needs beside its decoder, loaded with the first one. */
export { encodeRequest } from './encode-request.ts'
export { refusalOf } from './refusal.ts'
