/** What the tests of the embedded model ask about. */
export const shopDocuments = [
  {
    title: 'Refund policy',
    passages: [
      {
        heading: 'Time',
        text: 'Unused goods are refunded within 30 days of purchase. Sale items are refunded within 14 days.',
      },
      {
        heading: 'Digital goods',
        text: 'Patterns are sent by e-mail. They are refunded only when the file was never opened.',
      },
      {
        heading: 'How do I ask for a refund?',
        text: 'Follow these steps:\n\n1. Open the order page.\n2. Choose “Return”.\n3. Print the label.',
      },
    ],
  },
  {
    title: 'Shipping',
    passages: [
      {
        heading: 'Prices',
        text: 'Shipping costs depend on the zone.\n\n| Zone | Price |\n| --- | --- |\n| Domestic | €4.50 |\n| Norway | €12.00 |',
      },
      {
        heading: 'Options of the command',
        text: `Usage:\n\n\`\`\`\n-p, --parcel NUMBER  the parcel to track\n-l, --late  only parcels that are late\n${Array.from({ length: 12 }, (_, at) => `-${at}, --level${at}  prints messages of level ${at}`).join('\n')}\n\`\`\``,
      },
      {
        heading: 'Tracking',
        text: 'Parcels are tracked with a command:\n\n```\ntrack --parcel 42\n```\n\nThe tracking number is in the mail.',
      },
    ],
  },
  {
    title: 'Opening hours',
    passages: [{ heading: 'Shop', text: 'The shop opens at 9:30. The café in the shop opens at noon.' }],
  },
  {
    title: 'Yarn',
    passages: [
      'Every skein of ours is a skein to love, and a pull skein is a skein for a quick start.',
      'Yarn is sold by weight. A skein is a length of yarn. A ball is wound.',
    ],
  },
  {
    title: 'Dye works',
    passages: [
      `The dye works keep a diary${' of the weather and the river'.repeat(10)}. Indigo vats rest for eight days. Madder roots dry in the attic. The apprentices write it.`,
      `${'The river was high and the weather poor. '.repeat(12)}\n\nSafflower needs:\n\n- Cold water.\n- Citric acid.`,
    ],
  },
  {
    title: 'Manual',
    passages: [
      {
        heading: 'Host secrets',
        text: 'Host secrets can be set. The loom conceals secrets from listings. They stay visible for a moment.',
      },
      {
        heading: 'Proxy secrets',
        text: 'The loom conceals secrets from listings. They stay visible for a moment. It has a proxy.',
      },
      { heading: '--warp', text: 'Sets the shuttle tension in grams.' },
      { heading: '--weft', text: 'Sets the shuttle tension in grams. It is new.' },
    ],
  },
  { title: 'People', passages: ['Odile Farrant teaches the workshops. The long table seats 12 guests.'] },
];
