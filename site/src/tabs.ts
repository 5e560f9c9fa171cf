const fence = (language: string) => `\`\`\`${language}\\n[\\s\\S]*?^\`\`\`\\n`;
const sample = (language: string) => `${fence(language)}(?:\\n${fence('text')})?`;
const samples = new RegExp(`^(${sample('sh')})\\n(${sample('ts')})`, 'gm');

/** A shell sample and the TypeScript sample that follows it, each with its output, become two tabs. They need no script. */
export function withTabs(body: string): string {
  let count = 0;
  return body.replaceAll(samples, (_whole, shell: string, script: string) => {
    count += 1;
    const tab = (name: string, isFirst: boolean) => {
      const id = `tabs-${count}-${name.toLowerCase()}`;
      return `<input type="radio" name="tabs-${count}" id="${id}"${isFirst ? ' checked' : ''}><label for="${id}">${name}</label>`;
    };
    const panel = (content: string) => `<div class="tab">\n\n${content}\n</div>`;
    return [
      `<fieldset class="tabs"><legend>Language</legend>${tab('curl', true)}${tab('TypeScript', false)}`,
      panel(shell),
      panel(script),
      '</fieldset>\n',
    ].join('\n');
  });
}
