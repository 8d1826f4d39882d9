"""Makes up short stories in simple English, as many as wanted, for `train.py`: twelve plots whose people, places, things and
sentences are drawn. `python3 stories.py 3 7` prints 3 of them with seed 7.
"""
import random
import sys

PEOPLE = "Lily Tom Mia Ben Anna Max Sara Leo Ella Sam Rose Jack Nora Tim Lucy Finn Ruby Otto Clara Hugo".split()
SHE = set("Lily Mia Anna Sara Ella Rose Nora Lucy Ruby Clara Pip Daisy Hazel Bella Dot Willow Poppy Penny".split())
ANIMAL_NAMES = "Pip Daisy Hazel Bella Dot Willow Poppy Penny Bruno Toby Rusty Milo Oscar Barney Felix Teddy".split()
ANIMALS = "fox rabbit mouse bear squirrel hedgehog frog duck owl cat dog badger beaver turtle goat pony".split()
PLACES = ["by the river", "near the forest", "at the edge of a village", "on a farm", "by the sea", "in a little house on a hill",
          "in a town with red roofs", "in a green valley", "beside a lake", "under an old oak tree"]
THINGS = "ball kite hat boat drum book lamp bell blanket scarf basket key whistle doll wagon spoon".split()
COLOURS = "red blue green yellow white brown orange purple".split()
SIZES = "big little small round shiny old new soft".split()
FOODS = ["an apple", "a pear", "a piece of cake", "some bread and cheese", "a bowl of berries", "a warm pie", "some soup", "a cookie", "a basket of nuts", "some honey"]
SPOTS = ["under the bed", "behind the door", "in the garden", "in the tall grass", "under a bush", "by the well", "in the barn", "on the stairs", "behind the big rock", "in the old shed"]
KIN = ["mother", "father", "grandmother", "grandfather", "sister", "brother", "uncle", "aunt"]
WEATHER = ["The sun was shining", "It was a warm day", "The wind was soft", "It was a cold morning", "Snow lay on the ground", "The sky was blue", "It had rained all night", "The birds were singing"]
MORALS = {
    "help": ["From that day on, they were good friends.", "It is good to help each other.", "A small friend can be a great help.", "Nobody is too small to help."],
    "try": ["If you keep trying, you will learn.", "It does not matter how often you fall, if you stand up again.", "Hard things become easy with time."],
    "share": ["Food tastes better with a friend.", "Sharing made them both happy.", "It is nice to share."],
    "truth": ["It is always better to tell the truth.", "The truth is hard to say, but then the heart is light.", "After that, {n} never hid the truth again."],
    "home": ["It is good to go out, and it is good to come home.", "And that night {n} slept very well.", "What a fine day it had been!"],
}
pick = random.choice


class Hero:
    """A child or an animal, with the words that stand for it."""

    def __init__(self, taken=()):
        self.kind = pick(ANIMALS) if random.random() < 0.55 else None
        self.n = pick([n for n in (ANIMAL_NAMES if self.kind else PEOPLE) if n not in taken])
        self.she, self.her, self.hers = ("she", "her", "her") if self.n in SHE else ("he", "him", "his")
        self.a = f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}" if self.kind else ("a girl" if self.n in SHE else "a boy")

    def words(self, s=""):
        return {"n" + s: self.n, "she" + s: self.she, "She" + s: self.she.capitalize(), "her" + s: self.her, "hers" + s: self.hers,
                "Hers" + s: self.hers.capitalize(), "a" + s: self.a}


# Each plot is a list of steps; a step is the ways to say it, of which one is drawn. [..] is left out now and then.
PLOTS = {
    ("help", "the thing that was lost"): [
        ["{n} had {a_thing}. {She} loved it and took it everywhere.", "{Hers} best thing was {a_thing}.", "For {hers} birthday {n} had been given {a_thing}."],
        ["One day the {thing} was gone.", "But one morning {she} could not find the {thing}.", "One evening {n} saw that the {thing} was not there."],
        ["{She} looked {spot}, but it was not there.", "{n} looked {spot} and {spot2}. Nothing!", "\"Where is my {thing}?\" {she} said. {She} looked {spot}."],
        ["{n} began to cry.", "{n} was very sad.", "{n} sat down and did not know what to do."],
        ["Then {n2} came by. \"Why are you sad?\" {she2} asked.", "{n2}, {a2}, saw {her} and asked, \"What is wrong?\"", "\"What are you looking for?\" asked {n2}, who was {a2}."],
        ["\"I have lost my {thing},\" said {n}.", "\"My {thing} is lost, and I miss it so much,\" {n} said."],
        ["\"Do not cry. I will help you,\" said {n2}.", "\"Let us look for it together,\" said {n2}.", "\"Two can see more than one,\" said {n2}. \"Come!\""],
        ["They looked {spot2}. They looked {spot3}.", "They went up the hill and down again.", "They asked everyone they met."],
        ["And there it was, {spot3}!", "Then {n2} called, \"I see it!\" The {thing} lay {spot3}.", "At last they found the {thing}. It was {spot3}, a little wet but whole."],
        ["{n} laughed and danced. \"Thank you, {n2}!\"", "\"Thank you!\" said {n}, and gave {n2} a big hug.", "{n} was so happy that {she} sang all the way home."]],
    ("share", "something to eat"): [
        ["{n} had {food} for lunch.", "{Hers} {kin} gave {n} {food}.", "One day {n} found that there was {food} in {hers} bag."],
        ["{She} sat down in the sun to eat.", "{She} went to a quiet place to eat it alone.", "It smelled very good."],
        ["Then {n2} came along. {She2} was {a2}, and {she2} was hungry.", "{n2}, {a2}, looked at it with big eyes.", "\"That smells so good,\" said a voice. It was {n2}, {a2}."],
        ["\"I have had nothing to eat today,\" said {n2}.", "\"I am so hungry,\" {n2} said quietly.", "\"May I have a little?\" asked {n2}."],
        ["{n} thought about it. {She} was hungry too.", "At first {n} wanted to keep it all.", "\"But it is mine,\" thought {n}."],
        ["Then {she} looked at {n2} and felt sorry.", "But then {she} remembered what {hers} {kin} always said: \"Half is enough for a friend.\"", "But {n2} looked so sad and thin."],
        ["\"Here,\" said {n}, \"half is for you.\"", "{n} cut it in two and gave {n2} the bigger half.", "\"Sit down,\" said {n}. \"We can eat it together.\""],
        ["They ate and laughed until nothing was left.", "They sat side by side and ate, and told each other stories.", "{n2} ate slowly and smiled."],
        ["The next day {n2} came back with {food2}. \"This is for both of us,\" {she2} said.", "\"You are kind,\" said {n2}. \"I will not forget it.\"", "\"Thank you, {n},\" said {n2}. \"Now I am not hungry any more.\""]],
    ("try", "learning"): [
        ["{n} wanted to learn to {skill}.", "All the others could {skill}, but {n} could not.", "More than anything, {n} wished that {she} could {skill}."],
        ["So {she} went out early and tried.", "{She} tried it every day.", "\"Today I will do it,\" {she} said."],
        ["It did not go well. {She} fell and hurt {hers} knee.", "The first time it went wrong, and the second time too.", "It was much harder than it looked."],
        ["The others laughed. \"You will never learn it!\"", "{n} was so angry that {she} threw {hers} hat on the ground.", "\"I cannot do it,\" {n} said and sat down."],
        ["But {hers} {kin} said, \"Nobody can do it the first time.\"", "Then {n2}, {a2}, sat down beside {her}. \"I fell a hundred times,\" {she2} said.", "\"May I show you?\" asked {n2}, {a2}. \"Slowly, one step and then the next.\""],
        ["So {n} tried again.", "{n} took a deep breath and stood up.", "The next day {she} was there again, and the day after that."],
        ["Day after day it went a little better.", "It went a little better, and then a little better still.", "A week went by, and then another."],
        ["And one morning {she} could {skill}!", "Then, all at once, it worked. \"Look! I can {skill}!\" {she} shouted.", "At last {n} could {skill} better than anyone."],
        ["Everyone clapped.", "{Hers} {kin} was very proud.", "{n} laughed, and did it again and again until it was dark."]],
    ("help", "the storm"): [
        ["One evening dark clouds came over the hills.", "One night there was a great storm.", "In the afternoon the wind began to blow."],
        ["It rained and rained.", "Thunder rolled over the roofs.", "The trees bent and the windows shook."],
        ["{n} was afraid. {She} hid under {hers} blanket.", "{n} did not like the thunder at all.", "{n} could not sleep."],
        ["Then there was a knock at the door.", "Then {she} heard a small voice outside.", "\"Help!\" somebody called from the dark."],
        ["It was {n2}, {a2}, wet and cold. \"The water is in my house,\" {she2} said.", "There stood {n2}, {a2}. {She2} was shaking from the cold.", "{n} opened the door, and {n2}, {a2}, fell in with the rain."],
        ["\"Come in, come in!\" said {n}.", "\"Quick, come to the fire,\" said {n}.", "{n} forgot that {she} was afraid."],
        ["{She} made tea and gave {n2} a dry blanket.", "{n} put wood on the fire and brought {food}.", "They sat by the fire and ate {food}."],
        ["They told stories until the storm was over.", "They counted the time between the light and the thunder, and it grew longer and longer.", "They sang so loudly that they could not hear the thunder."],
        ["In the morning the sun was shining.", "When they woke up, the sky was blue and a rainbow stood over the {spot4}.", "The next day everything was bright and clean."],
        ["\"Were you not afraid?\" asked {n2}. \"Not when you were here,\" said {n}.", "\"Thank you for the warm night,\" said {n2}.", "Then they went out and mended the roof of {n2} together."]],
    ("help", "stuck"): [
        ["{n} was walking home when {she} heard somebody cry.", "One day {n} went for a walk.", "One morning {n} heard a strange sound {spot}."],
        ["It was {n2}, {a2}, who was stuck in a hole.", "{n2}, {a2}, had fallen into a deep hole and could not get out.", "There sat {n2}, {a2}, with a foot under a stone."],
        ["\"Please help me,\" said {n2}.", "\"I have been here all day,\" said {n2} in a small voice.", "\"Can you get me out?\" asked {n2}."],
        ["{n} pulled, but it did not move.", "{n} was not strong enough.", "First {n} pushed, then {she} pulled. It was no use."],
        ["Then {she} had an idea.", "\"Wait,\" said {n}. \"I know what to do.\"", "{n} sat down and thought."],
        ["{She} fetched a long rope and tied it to a tree.", "{She} put a strong stick under it and pressed with all {hers} weight.", "{She} called all {hers} friends, and they pulled together."],
        ["One, two, three! And {n2} was free.", "Slowly, slowly, {n2} came out.", "It worked! {n2} rolled into the grass and laughed."],
        ["\"How can I thank you?\" asked {n2}. \"There is no need,\" said {n}.", "\"If you ever need me, just call,\" said {n2}.", "\"You are a true friend,\" said {n2}."],
        ["Not long after that {n} lost {hers} way in the dark, and it was {n2} who brought {her} home.", "Next winter, when {n} was ill, {n2} came each day with {food}.", "A week later the river took the bridge away, and {n2} carried {n} over the water."]],
    ("share", "the present"): [
        ["Tomorrow was the birthday of {n2}, {a2}.", "{n2}, {a2}, was the best friend of {n}, and soon {she2} had a birthday.", "\"It is my birthday on Sunday,\" said {n2}, {a2}."],
        ["{n} wanted to give {her2} something nice, but {she} had no money.", "{n} did not know what to give {her2}.", "\"What would {she2} like?\" thought {n}."],
        ["{She} thought of {a_thing}, but that was not right.", "{She} looked {spot} for something pretty, but found only stones.", "{She} asked {hers} {kin}. \"Give something that you made yourself,\" was the answer."],
        ["So {n} took some wood and paint and began to work.", "Then {she} had an idea and began at once.", "{n} worked all day and half the night."],
        ["It became {a_thing}. It was not perfect, but it was made with love.", "In the morning {a_thing} stood on the table.", "When it was done, {she} looked at it for a long time. It was {a_thing}."],
        ["{n2} opened the paper slowly.", "\"For me?\" said {n2}.", "At the party everybody looked at the present."],
        ["\"Oh! It is the best present of all,\" said {n2}.", "\"Did you make this {thing} yourself?\" asked {n2}, and {hers2} eyes were bright.", "{n2} said nothing, but hugged {n} for a long time."],
        ["Then they all ate {food}, and danced until the stars came out.", "And {n2} kept the {thing} for ever.", "After that they played with the {thing} all day."]],
    ("home", "the long walk"): [
        ["\"What is behind the hills?\" asked {n} one morning.", "{n} had never seen the sea.", "{n} wanted to see the tall tower that stood far away."],
        ["\"Go and look,\" said {hers} {kin}.", "So {she} packed {food} and set out.", "{She} put on {hers} {colour} hat and went."],
        ["First {she} came to a river. There was no bridge.", "First the way went through a dark forest.", "Soon {she} came to a place where the path went two ways."],
        ["\"Which way is the right one?\" {n} asked {n2}, {a2}.", "There {she} met {n2}, {a2}. \"Where are you going?\" {she2} asked.", "{n2}, {a2}, sat there and was fishing."],
        ["\"I am going there as well,\" said {n2}. \"Let us go together.\"", "\"I can show you,\" said {n2}. \"Follow me.\"", "\"It is far,\" said {n2}, \"but it is worth it.\""],
        ["They walked over hills and through fields.", "They jumped from stone to stone and did not fall.", "At noon they shared {food} in the shade."],
        ["And then they saw it. It was bigger than {n} had ever thought.", "When they came to the top, the whole world lay below them.", "\"Oh!\" said {n}. More {she} could not say."],
        ["They stayed until the sun went down.", "They looked and looked, and nobody said a word.", "They threw stones into the water and counted the rings."],
        ["Then it was time to go home.", "At night {n} came home, tired and happy.", "\"And? What is there?\" asked {hers} {kin}. And {n} told everything."]],
    ("share", "the quarrel"): [
        ["{n} and {n2}, {a2}, both wanted {a_thing}.", "One day {n} and {hers} friend {n2}, {a2}, found {a_thing} {spot}.", "{n} was playing with {a_thing} when {n2}, {a2}, came."],
        ["\"It is mine!\" said {n}. \"No, mine!\" said {n2}.", "\"I saw it first,\" said {n2}. \"But I took it first,\" said {n}.", "\"Give it to me!\" shouted {n2}."],
        ["{n} pulled on one side, and {n2} pulled on the other.", "They pulled and pushed, and neither would let go.", "Nobody wanted to wait."],
        ["Crack! The {thing} broke in two.", "Then the {thing} fell into the mud.", "And then the {thing} was broken."],
        ["Both were very quiet.", "They looked at each other, and both wanted to cry.", "\"Now nobody has it,\" said {n2}."],
        ["\"I am sorry,\" said {n}. \"I am sorry too,\" said {n2}.", "After a while {n} said, \"That was silly of me.\"", "\"We should have taken turns,\" said {n2}."],
        ["They fetched some string and mended it together.", "They cleaned it and dried it in the sun.", "{Hers} {kin} had some glue, and together they put it right again."],
        ["After that they took turns, one day each.", "It did not look as nice as before, but now it belonged to both of them.", "And then they played together until it was dark."]],
    ("try", "the garden"): [
        ["In spring {n} was given a small seed by {hers} {kin}.", "{n} found a strange seed {spot}.", "\"Plant this and see,\" said {n2}, {a2}, and gave {n} a seed."],
        ["{She} put it in the ground and gave it some water.", "{She} dug a hole, put in the seed and sang to it.", "{n} planted it where the sun was warm."],
        ["The next day there was nothing. {n} was not happy.", "{She} waited and waited, but nothing came.", "\"Why does it not grow?\" asked {n} each morning."],
        ["\"Good things need time,\" said {hers} {kin}.", "\"Wait a little longer,\" said {n2}.", "{n} watered it every day all the same."],
        ["Then it rained for a week, and then the sun came.", "One night {n} dreamed of a tree as high as the sky.", "A bird wanted to eat it, but {n} chased it away."],
        ["And one morning there was a little green leaf.", "Then something small and green looked out of the ground.", "\"It is growing! It is growing!\" shouted {n}."],
        ["By summer it was taller than {n}.", "It grew and grew, and had a {colour} flower as big as a plate.", "In autumn it was full of sweet {colour} fruit."],
        ["{n} gave some of it to everyone in the village.", "All the bees came to visit.", "{n} kept one seed for the next year."]],
    ("truth", "what was broken"): [
        ["{Hers} {kin} had {a_thing}. \"Please be careful with it,\" {n} was told.", "On the shelf stood {a_thing} that nobody was allowed to touch.", "{n} was playing in the house, although it was not allowed."],
        ["{n} jumped and ran, and then there was a crash.", "{She} only wanted to look at it, but it slipped from {hers} hands.", "Then the ball hit the shelf."],
        ["There it lay in a hundred pieces.", "It was broken.", "{n} looked at the pieces, and {hers} heart beat fast."],
        ["\"Nobody saw me,\" thought {n}, and hid the pieces {spot}.", "{n} put everything {spot} and went out quickly.", "{She} ran away and hid {spot}."],
        ["At dinner {hers} {kin} asked, \"Who did this?\"", "\"Perhaps it was the cat,\" said {n}, but {hers} face was red.", "That night {n} could not sleep."],
        ["{n} looked at {hers} plate and could not eat.", "The secret felt like a stone in {hers} stomach.", "\"I must tell,\" {she} thought. But it was hard."],
        ["At last {she} said, \"It was me. I am so sorry.\"", "Then {n} told everything, and cried.", "{She} went to {hers} {kin} and told the truth."],
        ["{Hers} {kin} was quiet for a while, and then smiled. \"Thank you for telling me.\"", "\"Things can be mended,\" said {hers} {kin}. \"I am glad that you told me.\"", "\"I was a little angry,\" said {hers} {kin}, \"but you were brave.\""],
        ["Together they swept up the pieces.", "They glued it together, and it stood on the shelf again, with many lines in it.", "And {n} felt light as a feather."]],
    ("home", "the noise in the night"): [
        ["In the middle of the night {n} woke up.", "One night {n} heard something.", "It was late, and the moon was high, when {n} sat up in bed."],
        ["Tap, tap, tap. What was that?", "Something was scratching at the wall.", "\"Hoo, hoo,\" it went, outside in the dark."],
        ["{n} pulled the blanket over {hers} head.", "\"Is somebody there?\" {n} asked. Nobody answered.", "{Hers} heart went boom, boom, boom."],
        ["But then {she} wanted to know what it was.", "\"I am not afraid,\" said {n}, although {she} was.", "{She} took the lamp and went down the stairs, step by step."],
        ["The noise came from {spot4}.", "There it was again, louder than before.", "{She} opened the door very slowly."],
        ["And there sat {n2}, {a2}! \"I could not sleep,\" {she2} said.", "It was only {n2}, {a2}, who had come for {food}.", "It was {n2}, {a2}. \"I am sorry,\" {she2} said. \"I lost my way.\""],
        ["{n} laughed so much that {she} had to sit down.", "\"You gave me a fright!\" said {n}.", "\"And I thought you were a monster,\" said {n}. \"I thought that you were one,\" said {n2}."],
        ["They drank warm milk together.", "They sat on the step and looked at the moon.", "{n} made room, and they both slept until noon."]],
    ("try", "building"): [
        ["{n} wanted to build {build}.", "\"I will build {build},\" said {n}, \"the best there is.\"", "{n} had a plan: {build}!"],
        ["{She} took some wood and some nails.", "{She} drew it on paper first.", "{She} began in the morning and worked fast."],
        ["But it fell down at once.", "When it was done, the wind blew, and it fell to pieces.", "It looked more like a pile of sticks."],
        ["{n2}, {a2}, came by and looked at it. \"It needs a stronger foot,\" {she2} said.", "\"You are too fast,\" said {n2}, {a2}.", "{n} kicked it. \"I give up!\" Then {n2}, {a2}, came."],
        ["\"Then help me,\" said {n}.", "At first {n} did not want to hear it. But {n2} was right.", "\"Shall we do it together?\" asked {n2}."],
        ["{n} held the wood, and {n2} hit the nails.", "This time they worked slowly, piece by piece.", "They used stones at the bottom and wood at the top."],
        ["It took three days.", "When the sun went down, it stood.", "It was a lot of work, but at last it was done."],
        ["They painted it {colour}.", "The wind blew and blew, and it did not move.", "It was {build}, and it was even better than on paper."],
        ["\"We did it!\" they shouted.", "Everyone came to see it.", "That evening they sat there and ate {food}."]],
}
SKILLS = ["swim", "ride a horse", "whistle", "play the drum", "jump over the stream", "climb the tall tree", "fly a kite", "read", "skate on the ice", "bake bread", "row a boat", "sing"]
BUILDS = ["a tree house", "a boat", "a bridge", "a little house", "a cart", "a windmill", "a tower", "a nest"]
SPOTS4 = ["kitchen", "garden", "barn", "valley", "old mill", "village"]
OPENINGS = ["Once upon a time there was {a} named {n}.", "{n} was {a} who lived {place}.", "Once there lived {a} {place}. {Hers} name was {n}.", "There was once {a} whose name was {n}.",
            "Long ago, {place}, lived {a} called {n}.", "Once upon a time, {a} named {n} lived {place}."]
TRAITS = ["{She} was kind, but a little shy.", "{She} was the smallest of all.", "{She} was never afraid.", "{n} liked to play in the sun.", "{n} lived with {hers} {kin}.", "{She} always had a good idea.", "{She} was always in a hurry."]
ENDS = ["The end.", "", "", "", ""]


def story():
    hero = Hero()
    other = Hero(taken=(hero.n,))
    (moral, _), steps = pick(list(PLOTS.items()))
    spots = random.sample(SPOTS, 3)
    thing = pick(THINGS)
    adjective = pick(SIZES) if random.random() < 0.5 else pick(COLOURS)
    foods = random.sample(FOODS, 2)
    words = {**hero.words(), **other.words("2"), "place": pick(PLACES), "kin": pick(KIN), "thing": thing, "colour": pick(COLOURS),
             "a_thing": f"{'an' if adjective[0] in 'aeiou' else 'a'} {adjective} {thing}", "food": foods[0], "food2": foods[1],
             "spot": spots[0], "spot2": spots[1], "spot3": spots[2], "spot4": pick(SPOTS4), "skill": pick(SKILLS), "build": pick(BUILDS)}
    told = [pick(OPENINGS)]
    if random.random() < 0.6:
        told.append(pick(TRAITS))
    if random.random() < 0.3:
        told.append(pick(WEATHER) + ".")
    told += [pick(step) for step in steps]
    if random.random() < 0.8:
        told.append(pick(MORALS[moral]))
    told.append(pick(ENDS))
    return " ".join(sentence.format(**words) for sentence in told if sentence)


if __name__ == "__main__":
    random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        print(story() + "\n")
