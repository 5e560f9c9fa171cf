import { csrfHeader, toApiError, unreachable } from './request.ts';

/** How long an upload may wait without progress. Reading a file takes half a minute at most by default, and files take turns. */
const stallMs = 300_000;

/** Sends a file and reports progress (0 to 1), which fetch cannot do. */
export function upload<Result>(
  path: string,
  file: File,
  onProgress: (part: number) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open('POST', `/console${path}`);
    const headers = { ...csrfHeader(), 'content-type': 'application/octet-stream' };
    for (const [name, value] of Object.entries(headers)) sending.setRequestHeader(name, value);
    sending.responseType = 'json';
    const giveUp = () => sending.abort();
    let timer = setTimeout(giveUp, stallMs);
    sending.upload.onprogress = ({ loaded, total }) => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, stallMs);
      onProgress(total === 0 ? 1 : loaded / total);
    };
    sending.onload = () => {
      if (sending.status >= 300) reject(toApiError(sending.status, sending.response));
      else if (sending.response === null) reject(unreachable());
      else resolve(sending.response as Result);
    };
    sending.onerror = sending.onabort = () => reject(unreachable());
    sending.onloadend = () => clearTimeout(timer);
    sending.send(file);
  });
}
